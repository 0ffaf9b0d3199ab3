import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { atLeast } from '../../../contract/access/principal.ts'
import { freePorts } from '../../../endpoints/listeners/free-ports.testing.ts'
import type { EngineName } from '../../../storage/engine.ts'
import {
  type ApiOperation,
  parseDescription,
} from '../../../test-support/api-description.testing.ts'
import {
  type EngineNode,
  forEachEngineNode,
} from '../../../test-support/each-engine-node.testing.ts'
import { endpointPath, type TestResponse } from '../../../test-support/start.testing.ts'
import { pick, REQUESTS, randomNumbers, SEED } from '../settings.testing.ts'
import { type Caller, type Callers, createCallers } from './callers.testing.ts'
import { checkResponse } from './check-response.testing.ts'
import { FORGERIES, type GeneratedRequest, generateRequest } from './generate-request.testing.ts'
import type { ExampleValues } from './generate-value.testing.ts'

// Sends requests that are generated from the OpenAPI document of the server, with the credentials
// of every role and scope. Every response must be one that the document and docs/http-api.md
// permit. `npm run test:endurance` sends more of them.

/** Number of requests between two checks of the state. */
const BLOCK = 25

/** Number of requests with which every operation is sent. */
const EVERY = 5_000

/** Maximum time of a response on a busy machine, ms. Without a response, the server hangs. */
const HANG = 60_000

const DOCUMENTS = ['one', 'two', 'three', 'ä/ö', '😀'].map((id, n) => ({ id, year: 1998 + n }))

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
}

const agent = new Agent({ keepAlive: true })

/** The short form runs above one engine, because the engines hardly affect the responses. */
const ENGINES: readonly EngineName[] = REQUESTS >= EVERY ? ['sqlite', 'postgres'] : ['sqlite']

forEachEngineNode((start) => {
  test(
    `each of ${REQUESTS} requests generated from the OpenAPI document, by callers of all roles, gets a documented response`,
    async () => {
      const random = randomNumbers(SEED)
      const node = await start()
      try {
        const operations = parseDescription((await node.request('GET', '/_api/openapi.json')).text)
        const changes = operations.filter(
          ({ method, bySession }) => method !== 'GET' && bySession !== 'public',
        )
        const addresses = await freeAddresses()
        const callers = await createCallers(node)
        const seen = new Set<string>()
        const used = new Set<ApiOperation>()
        let sent = 0
        async function check(request: GeneratedRequest): Promise<void> {
          await withContext(sent++, request, async () => {
            const response = await send(node.port, request)
            checkResponse(request, response)
            used.add(request.operation)
            seen.add(`${request.operation.method} ${request.operation.path} ${response.status}`)
            if (endsCredentials(request, response)) await callers.renew()
          })
        }
        // Every operation rejects the people and tokens of every lower role.
        const values = await restore(node, addresses, callers)
        const initial = await stateOf(node)
        for (const operation of operations) {
          for (const caller of callers.all.filter((each) => isBelow(each, operation))) {
            await check(generateRequest(random, operation, caller, values))
          }
        }
        expect(await stateOf(node)).toEqual(initial)
        for (const end = sent + REQUESTS; sent < end; ) {
          const known = await restore(node, addresses, callers)
          const next = (caller: Caller, forgery?: Record<string, string>) =>
            generateRequest(random, pick(random, operations), caller, known, forgery)

          // Foreign pages and callers below operator change no endpoint, database, document or person.
          const before = await stateOf(node)
          for (const forgery of FORGERIES) {
            const admin = pick(random, callers.all.filter(isAdminSession))
            await check(generateRequest(random, pick(random, changes), admin, known, forgery))
          }
          for (let n = 0; n < BLOCK; n++) await check(next(pick(random, callers.all.filter(isLow))))
          expect(await stateOf(node)).toEqual(before)

          for (let n = 0; n < BLOCK; n++) {
            await check(
              next(
                pick(
                  random,
                  callers.all.filter((each) => !isLow(each)),
                ),
              ),
            )
          }
        }
        expect(seen.size).toBeGreaterThan(operations.length)
        if (REQUESTS >= EVERY) expect(operations.filter((each) => !used.has(each))).toEqual([])
      } finally {
        agent.destroy()
        await node.stop()
      }
    },
    120_000 + REQUESTS * 100,
  )
}, ENGINES)

/** Returns whether a caller, who may use all databases, has a role below that of an operation. */
function isBelow({ by, role, databases }: Caller, { bySession, byToken }: ApiOperation): boolean {
  const needed = by === 'token' ? byToken : bySession
  if (role === 'none' || databases !== null || needed === 'public') return false
  return !atLeast(role, needed)
}

const isLow = ({ role }: Caller) => role === 'none' || role === 'pending' || role === 'viewer'

const isAdminSession = ({ by, role }: Caller) => by === 'session' && role === 'admin'

/** Addresses that endpoints of the test can use. */
async function freeAddresses(): Promise<string[]> {
  const ports = await freePorts(3)
  return [
    ...ports.map((port) => `tcp://127.0.0.1:${port}`),
    `unix://${tmpdir()}/gatehouse-http-${process.pid}.sock`,
  ]
}

/** Restores the data that requests refer to. Returns the values that requests use. */
async function restore(
  node: EngineNode,
  addresses: readonly string[],
  { ids }: Callers,
): Promise<ExampleValues> {
  const endpoints: { endpoint: string }[] = (await node.request('GET', '/_api/endpoint')).json
  const databases: { name: string }[] = (await node.request('GET', '/_api/database')).json
  await Promise.all([
    ...endpoints
      .filter(({ endpoint }) => endpoint !== node.address)
      .map(({ endpoint }) => node.request('DELETE', endpointPath(endpoint))),
    ...databases
      .filter(({ name }) => !['_system', 'blog'].includes(name))
      .map(({ name }) => node.request('DELETE', `/_api/database/${name}`)),
    node.request('POST', '/_api/database', { name: 'blog' }),
  ])
  await Promise.all(
    ['', '/_db/blog'].flatMap((prefix) =>
      ['articles', 'typed'].map((collection) => restoreCollection(node, prefix, collection)),
    ),
  )
  const job = await node.request('DELETE', '/articles?year=1', undefined, {
    headers: { Prefer: 'respond-async' },
  })
  const changes = [{ endpoint: addresses[0], databases: [] }]
  const change = await node.request('POST', '/_api/endpoint-change', { changes })
  const state = async () => (await node.request('GET', `/_job/${job.json.id}`)).json.state
  await expect.poll(state, { timeout: HANG, interval: 5 }).toBe('done')
  const values: Readonly<Record<string, readonly unknown[]>> = {
    endpoint: [
      ...addresses,
      'tcp://127.0.0.1:0',
      'tcp://127.0.0.1:70000',
      'tcp://192.0.2.1:80',
      'x',
    ],
    '{address}': [...addresses, 'tcp://127.0.0.1:1', 'TCP://LOCALHOST:2', 'x'],
    '{name}': ['blog', 'shop', 'by-year', 'by-author', '_system', 'nowhere', '1a'],
    databases: [[], ['_system'], ['blog'], ['_system', 'nowhere'], ['blog', 'blog'], ['1a']],
    database: ['_system', 'blog', 'nowhere', '1a', ''],
    name: ['shop', 'blog', '_system', '1a', 'ci', 'x'.repeat(64)],
    fields: [['year'], ['author.name', '-year'], ['id'], [''], ['year', 'year']],
    '{collection}': ['articles', 'typed', 'empty'],
    '{id}': [
      ...DOCUMENTS.map(({ id }) => id),
      ...['missing', change.headers['gatehouse-change'], job.json.id, ...ids.person, ...ids.token],
    ],
    '{session}': ids.session,
    id: ['one', 'new', 'typed', '', '..', 7],
  }
  return (name) => values[name]
}

async function restoreCollection(
  node: EngineNode,
  prefix: string,
  collection: string,
): Promise<void> {
  await node.request('DELETE', `${prefix}/_schema/${collection}`)
  await node.request('DELETE', `${prefix}/${collection}`)
  for (const { name } of (await node.request('GET', `${prefix}/_index/${collection}`)).json) {
    await node.request('DELETE', `${prefix}/_index/${collection}/${name}`)
  }
  await node.request('POST', `${prefix}/${collection}`, DOCUMENTS)
  if (collection === 'typed') {
    const schema = { properties: { year: { type: 'number' } } }
    await node.request('PUT', `${prefix}/_schema/typed`, schema)
  } else await node.request('PUT', `${prefix}/_index/articles/by-year`, { fields: ['year'] })
}

/** Returns the state that only operators and admins change. */
async function stateOf(node: EngineNode): Promise<string> {
  const paths = ['/_api/endpoint', '/_api/database', '/_export', '/_db/blog/_export']
  const parts = await Promise.all(paths.map((path) => node.request('GET', path)))
  const people = (await node.request('GET', '/_api/user')).json as { id: string; role: string }[]
  const roles = people.map(({ id, role }) => `${id} ${role}`).sort()
  return [...parts.map(({ status, text }) => `${status} ${text}`), ...roles].join('\n')
}

/** Returns whether a request may have ended credentials of callers. */
const endsCredentials = (
  { operation: { path }, method }: GeneratedRequest,
  { status }: TestResponse,
): boolean =>
  status < 300 && method !== 'GET' && method !== 'HEAD' && /_api\/(?:user|token|session)/.test(path)

async function withContext(
  sent: number,
  { caller, method, target, headers, body }: GeneratedRequest,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    const said = `${method} ${target}\n${JSON.stringify(headers)}\n${body?.toString() ?? ''}`
    throw new Error(`Request ${sent}, seed ${SEED}, ${caller.name}: ${said}\n${error}`, {
      cause: error,
    })
  }
}

/** Sends a request; of an event stream, it reads the head only. */
function send(port: number, { method, target, headers, body, operation }: GeneratedRequest) {
  return new Promise<TestResponse>((resolve, reject) => {
    // Node.js sends the body of GET and DELETE without a length.
    const length = body === undefined ? {} : { 'Content-Length': String(body.length) }
    const options = { host: '127.0.0.1', port, method, path: target, agent }
    const request = httpRequest(
      { ...options, headers: { ...headers, ...length }, timeout: HANG },
      (response) => {
        const { statusCode: status = 0, headers } = response
        const done = (text: string) =>
          resolve({
            status,
            headers,
            text,
            get json() {
              return JSON.parse(text)
            },
          })
        if (operation.path === '/_api/events' && status === 200) {
          done('')
          request.destroy()
          return
        }
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(parts)
          const decode = DECODERS[headers['content-encoding'] ?? '']
          done((decode === undefined || bytes.length === 0 ? bytes : decode(bytes)).toString())
        })
      },
    )
    request.on('timeout', () => request.destroy(new Error('The server does not respond.')))
    request.on('error', reject)
    request.end(body)
  })
}
