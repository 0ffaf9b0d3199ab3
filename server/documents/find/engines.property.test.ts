import { request as httpRequest, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CASES } from '../../integration/endurance/settings.testing.ts'
import { locationOf, openStore } from '../../storage/open.ts'
import type { Store } from '../../storage/store.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'
import {
  contents,
  fieldsServing,
  indexFields,
  PAGED,
  parametersOf,
  printIndexFields,
  query,
} from './queries.testing.ts'

// The same documents and the same secrets on both engines: generated queries must get the same
// responses, byte for byte, with their cursors and tags.

/** A node on one of the engines, and its store. */
interface Engine {
  readonly node: TestNode
  readonly store: Store
}

let opened: AsyncDisposableStack
let engines: readonly Engine[]

beforeAll(async () => {
  opened = new AsyncDisposableStack()
  const database = await makeDatabase()
  opened.defer(database.remove)
  const secretKey = new Uint8Array(32).fill(1)
  const open = async (databaseUrl: string | undefined): Promise<Engine> => {
    const node = await startForTest({ secretKey, databaseUrl })
    opened.defer(node.stop)
    const store = await openStore(locationOf({ data: node.data, databaseUrl }), 'tool')
    opened.defer(store.close)
    return { node, store }
  }
  engines = [await open(undefined), await open(database.databaseUrl)]
})
afterAll(() => opened.disposeAsync())

/** Returns a response without the headers that depend on the time. */
async function responseOf(
  { node: { port, token } }: Engine,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: { ...headers, Authorization: `Bearer ${token}` },
    })
      .on('response', resolve)
      .on('error', reject)
      .end()
  })
  const body = await buffer(response)
  const names = response.rawHeaders.filter((_, at) => at % 2 === 0)
  return {
    status: response.statusCode,
    headers: names
      .map((name, at) => `${name}: ${response.rawHeaders[2 * at + 1]}`)
      .filter((line) => !/^date:/i.test(line)),
    body: body.toString('latin1'),
    link: response.headers.link,
  }
}

/** Sends a request to both engines. Returns the response, which must be the same. */
async function sameResponse(method: string, path: string, headers = {}) {
  const [one, other] = await Promise.all(
    engines.map((engine) => responseOf(engine, method, path, headers)),
  )
  expect(other).toEqual(one)
  return one as NonNullable<typeof one>
}

/** Returns headers without the case of their names and their order, which have no meaning. */
const normalized = (headers: readonly string[]) =>
  headers.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())).sort()

test(
  'both engines return the same bytes for a query, and the same headers',
  async () => {
    let collections = 0
    const seen = { cursors: 0, indexed: 0, counted: 0 }
    const scenario = fc.asyncProperty(
      fc.array(contents, { maxLength: 25, size: 'max' }),
      fc.array(query, { minLength: 1, maxLength: 4 }),
      fc.array(indexFields, { maxLength: 1 }),
      async (all, queries, fields) => {
        const collection = `c${++collections}`
        const rows = all.map((each, at) => {
          const id = `${at}s`
          const body = JSON.stringify({ ...each, id })
          return { database: '_system', collection, id, tag: `${collections}-${at}`, body }
        })
        for (const { store } of engines) {
          if (rows.length > 0) await store.db.insertInto('documents').values(rows).execute()
        }
        const lists = [...fields, ...queries.map(fieldsServing)]
          .map(printIndexFields)
          .filter(({ length }) => length > 0)
        for (const { node } of engines) {
          for (const [at, list] of lists.entries()) {
            const path = `/_index/${collection}/i${at}`
            expect((await node.request('PUT', path, { fields: list })).status).toBe(201)
          }
          const states = async () =>
            (await node.request('GET', `/_index/${collection}`)).json.map(
              ({ state }: { state: string }) => state,
            )
          await expect.poll(states, { interval: 5 }).toEqual(lists.map(() => 'ready'))
        }
        for (const each of queries) {
          const parameters = parametersOf(each)
          const exported = `/${collection}?${parameters}`
          for (const type of ['application/x-ndjson', 'text/csv']) {
            await sameResponse('GET', exported, { Accept: type })
          }
          parameters.set('limit', String(each.limit))
          const headers = each.count ? { Prefer: 'count=exact' } : {}
          let path: string | undefined = `/${collection}?${parameters}`
          while (path !== undefined) {
            const page = await sameResponse('GET', path, headers)
            expect(page.status).toBe(200)
            const head = await sameResponse('HEAD', path, headers)
            expect([head.status, head.body]).toEqual([200, ''])
            expect(normalized(head.headers)).toEqual(normalized(page.headers))
            path = /^<([^>]+)>; rel="next"$/.exec(String(page.link ?? ''))?.[1]
            if (path?.includes('cursor=')) seen.cursors++
            if (page.headers.some((line) => /^query-plan: index=/i.test(line))) seen.indexed++
            if (page.headers.some((line) => /^x-total-count:/i.test(line))) seen.counted++
          }
        }
      },
    )
    await fc.assert(scenario, {
      numRuns: 10 * CASES,
      examples: [[PAGED.contents, [PAGED.query], []]],
    })
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(CASES)
  },
  120_000 * CASES,
)
