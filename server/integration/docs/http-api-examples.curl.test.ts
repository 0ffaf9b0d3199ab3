import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATORS } from '../../documents/query/filter.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { parseDescription } from '../../test-support/api-description.testing.ts'
import { operationOf } from '../../test-support/expect-described.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'
import { type Receiver, startReceiver } from '../../webhooks/receiver.testing.ts'
import { type ExampleRequest, examplesOf, requestsOf } from './examples.testing.ts'

// Runs the examples of docs/http-api.md about conventions and documents in their order, with curl, and
// compares the responses with those on the page. The examples use all that OpenAPI describes.

const run = promisify(execFile)
const page = readFileSync(new URL('../../../docs/http-api.md', import.meta.url), 'utf8')

const chapters = (first: string, next: string) =>
  page.slice(page.indexOf(`\n## ${first}\n`), page.indexOf(`\n## ${next}\n`))

const examples = [
  ...examplesOf(chapters('Conventions', 'Endpoints')),
  ...examplesOf(chapters('Documents', 'Events')),
]

let node: TestNode
let folder: string
let blog: number
let receiver: Receiver
/** Variables of the page that hold a part of an earlier response. */
const variables = new Map<string, string>()

beforeAll(async () => {
  node = await startForTest({ webhookAllow: ['127.0.0.1'] })
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-examples-'))
  ;[blog = 0] = await freePorts(1)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await node.stop()
})

const inBlog = (method: string, path: string, body?: unknown, headers = {}) =>
  node.request(method, path, body, { port: blog, headers })

/** Number of documents of the import that the page cancels. */
const VISITS = 2_000_000

/** What the page expects before the first example below a heading. */
const PREPARATIONS: Readonly<Record<string, () => Promise<void>>> = {
  'POST /<collection>': async () => {
    for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
    const endpoint = { endpoint: `tcp://127.0.0.1:${blog}`, databases: ['blog'] }
    await node.request('POST', '/_api/endpoint', endpoint)
    await inBlog('POST', '/articles', { id: 'hello', title: 'Hello', author: 'ada' })
  },
  'GET /_export': async () => {
    await node.request('POST', '/_db/shop/orders', { id: 'one', date: '2026-11-23' })
    await node.request('PUT', '/_db/shop/_index/orders/by-date', { fields: ['-date'] })
  },
  'GET /_index/<collection>': async () => {
    await createIndex('articles/by-author', { fields: ['author', '-year'] })
  },
  'PUT /_index/<collection>/<name>': async () => {
    await inBlog('DELETE', '/_index/articles/by-author')
    await inBlog('POST', '/users', { id: 'ann', email: 'a@example.org' })
    await createIndex('users/by-email', { fields: ['email'], unique: true })
  },
  'POST /_api/webhook': async () => {
    receiver = await startReceiver()
  },
  'POST /_api/webhook/<name>/delivery/<id>/retry': async () => {
    await inBlog('POST', '/articles', { id: 'hooks', title: 'Hooks' })
    const delivered = async () => (await node.request('GET', '/_api/webhook/search/delivery')).json
    await expect.poll(async () => (await delivered()).length).toBe(2)
    variables.set('DELIVERY', (await delivered())[0].id)
    await inBlog('DELETE', '/articles/hooks')
  },
  'GET /_job/<id>': async () => {
    const headers = { Prefer: 'respond-async' }
    const { json } = await inBlog('PATCH', '/articles', { draft: true }, headers)
    variables.set('JOB', json.id)
    for (const id of [json.id, variables.get('LISTING')]) {
      await expect.poll(async () => (await inBlog('GET', `/_job/${id}`)).status).toBe(200)
    }
  },
  'DELETE /_job/<id>': async () => {
    // Takes ten seconds.
    const headers = { Prefer: 'respond-async', 'Content-Type': 'application/x-ndjson' }
    const { json } = await inBlog('POST', '/visits', '{}\n'.repeat(VISITS), headers)
    variables.set('IMPORT', json.id)
  },
}

/** Creates an index of `blog`, and waits until it is ready. */
async function createIndex(name: string, definition: object): Promise<void> {
  await inBlog('PUT', `/_index/${name}`, definition)
  await expect
    .poll(async () => (await inBlog('GET', `/_index/${name.split('/')[0]}`)).json)
    .toMatchObject([{ state: 'ready' }])
}

/** The requests of the examples that were run. */
const sent: ExampleRequest[] = []

test('the responses to the examples of documents are those on the page', async () => {
  const prepared = new Set<string>()
  for (const { heading, command, kind, response } of examples) {
    if (!prepared.has(heading)) await PREPARATIONS[heading]?.()
    prepared.add(heading)
    const text = command
      .replaceAll('127.0.0.1:8529', `127.0.0.1:${node.port}`)
      .replaceAll('127.0.0.1:8530', `127.0.0.1:${blog}`)
      .replaceAll('127.0.0.1:9000', `127.0.0.1:${receiver?.port}`)
    const env = { ...process.env, TOKEN: node.token, ...Object.fromEntries(variables) }
    sent.push(...requestsOf(text.replace(/\$([A-Z]+)/g, (_, name) => variables.get(name) ?? '')))
    const { stdout } = await run('bash', ['-c', text], { cwd: folder, env })
    keepVariables(stdout)
    if (kind === undefined) continue
    expect.soft({ command, ...partsOf(stdout, kind, response) }).toEqual({
      command,
      ...partsOf(response, kind, response),
    })
  }
  expect(examples.length).toBeGreaterThanOrEqual(40)
}, 300_000)

test('the examples use every parameter, header, body and operator of the data API', async () => {
  const operations = parseDescription((await node.request('GET', '/_api/openapi.json')).text)
  const described = operations
    .filter(({ path }) => !path.startsWith('/_api/'))
    // The operations of an id in the query are those of an id in the path.
    .filter(({ path }) => path !== '/{collection}/')
  const used = new Set<string>()
  for (const { method, target, headers } of sent) {
    for (const name of Object.keys(headers)) used.add(`header ${name}`)
    for (const preference of headers.prefer?.split(', ') ?? []) used.add(`Prefer: ${preference}`)
    const operation = operationOf(operations, method, target)
    if (operation === undefined) continue
    const name = `${operation.method} ${operation.path}`
    used.add(`${name}`)
    used.add(`${operation.method} ${headers['content-type']}`)
    const known = operation.parameters.map((each) => each.name)
    for (const key of new URL(target, 'http://localhost').searchParams.keys()) {
      const isFilter = !known.includes(key) && known.includes('filters')
      used.add(`${name}?${isFilter ? 'filters' : key}`)
      if (isFilter) used.add(`operator ${key.split(':')[1]}`)
    }
  }
  const parts = described.flatMap(({ method, path, parameters, body }) => [
    `${method} ${path}`,
    ...[...(body?.keys() ?? [])].map((type) => `${method} ${type}`),
    ...parameters.flatMap((each) => {
      if (each.in === 'header') return [`header ${each.name.toLowerCase()}`]
      return each.in === 'query' ? [`${method} ${path}?${each.name}`] : []
    }),
  ])
  const preferences = ['respond-async', 'return=minimal', 'count=exact']
  const wanted = [
    ...parts,
    ...preferences.map((each) => `Prefer: ${each}`),
    ...OPERATORS.map((each) => `operator ${each}`),
  ]
  expect(wanted.length).toBeGreaterThan(80)
  expect([...new Set(wanted)].filter((part) => !used.has(part))).toEqual([])
})

/** Keeps the parts of a response that later examples need. */
function keepVariables(response: string): void {
  const etag = /^ETag: (.*)$/im.exec(response)?.[1]
  if (etag !== undefined) variables.set('ETAG', etag.trim())
  const listing = /^HTTP\/1.1 206 [\s\S]*^Location: \/_job\/(.*)$/im.exec(response)?.[1]
  if (listing !== undefined) variables.set('LISTING', listing.trim())
  const last = /"last":"([^"]+)"/.exec(response)?.[1]
  if (last !== undefined) variables.set('LAST', last)
  const position = /.*"position":"([^"]+)"/s.exec(response)?.[1]
  if (position !== undefined) variables.set('POSITION', position)
  const next = /^Link: <(.*)>; rel="next"/im.exec(response)?.[1]
  if (next !== undefined) variables.set('NEXT', next)
}

/** Returns what is compared of a response: the status and headers that the page shows, and the body. */
function partsOf(text: string, kind: string, shown: string) {
  const lines = text.replaceAll('\r', '')
  if (kind === '') return { body: withoutVolatile(lines.trimEnd()) }
  if (kind === 'json') return { body: bodyOf(lines) }
  const [head = '', body = ''] = split(lines)
  const [status = '', ...headers] = head.split('\n')
  const [, ...names] = (split(shown)[0] ?? '').split('\n').map((line) => line.split(':')[0])
  const listed = headers.filter((line) =>
    names.some((name) => name?.toLowerCase() === line.split(':')[0]?.toLowerCase()),
  )
  return {
    status,
    headers: listed
      .map((line) => withoutVolatile(line.replace(/^[^:]*/, (name) => name.toLowerCase())))
      .sort(),
    body: bodyOf(body),
  }
}

const split = (text: string) => [text.split('\n\n', 1)[0], text.split('\n\n').slice(1).join('\n\n')]

const bodyOf = (text: string): unknown =>
  text.trim() === '' ? undefined : JSON.parse(withoutVolatile(text))

/**
 * Replaces what differs from run to run: tags, ids and secrets, cursors, times, positions, ports, and how far a
 * cancelled job came.
 */
const withoutVolatile = (text: string): string =>
  text
    .replace(/"state": ?"cancelled"[\s\S]*/, (part) =>
      part.replace(/"(done|found|created)": ?\d+/g, '"$1":0'),
    )
    .replace(/\b[0-9a-f]{12}-(\d+)/g, '…-$1')
    .replace(/^etag: .*$/m, 'etag: …')
    .replace(/"etag":"[^,}]*"/g, '"etag":"…"')
    .replace(/127\.0\.0\.1:\d+\/hook/g, '…')
    .replace(/(whsec|msg)_[^"]*/g, '$1_…')
    .replace(/"(revision|milliseconds)": ?\d+/g, '"$1":0')
    .replace(/"webhook-timestamp": ?"\d+"/g, '"webhook-timestamp":""')
    .replace(/cursor=[^&>]*/g, 'cursor=…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(/(_job\/|"id": ?")[\w-]{22}\b/g, '$1…')
