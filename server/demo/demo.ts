import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { invariant } from '../contract/invariant.ts'
import type { Node } from '../start.ts'
import { runClients, type Target } from './clients.ts'
import { PEOPLE, signIn, startPeopleProvider } from './people-provider.ts'
import {
  SAMPLE_CERTIFICATE,
  SAMPLE_DATABASES,
  sampleCollections,
  sampleEndpoints,
} from './sample-data.ts'
import { storeSampleTraffic } from './sample-traffic.ts'

/** The first port that a demo tries. */
const FIRST_PORT = 8_529

/** Number of endpoints with a day of samples. */
const BUSY_ENDPOINTS = 6

const collections = sampleCollections()

/** What the clients of a demo have received so far. */
export interface DemoCounts {
  responses: number
  rejected: number
}

/** How a person signs in to a demo. */
export interface DemoAccess {
  readonly console: string
  readonly operatorKey: string
}

/** What a demo takes from the command line. */
export interface DemoDeps {
  /** Starts a node with these flags and variables, and creates a token of the role admin. */
  start(
    flags: Record<string, unknown>,
    env: Record<string, string>,
  ): Promise<{ node: Node; token: string }>
  /** The folder for everything that the demo stores. */
  readonly folder: string
  /** Closes what was started. */
  readonly stack: AsyncDisposableStack
  readonly stopping: AbortSignal
  readonly counts: DemoCounts
  /** Called once the node has its data. */
  onReady(access: DemoAccess): void
}

/** Starts a node with sample data, and lets clients call it until `stopping` aborts. */
export async function runDemo(deps: DemoDeps): Promise<void> {
  const { folder, stack, stopping, counts } = deps
  const provider = await startPeopleProvider()
  stack.defer(provider.close)
  const receiver = await startReceiver()
  stack.defer(receiver.close)
  const ports = await reservePorts(1 + sampleEndpoints('').length)
  const [first] = ports
  invariant(first, 'a demo has a port')
  const address = `tcp://127.0.0.1:${first.port}`
  const console = `http://127.0.0.1:${first.port}`
  await first.release()
  stack.defer(async () => void (await Promise.all(ports.map((port) => port.release()))))

  const flags = { endpoint: [address], data: join(folder, 'data'), drain: '1', log: 'silent' }
  const env = { ...provider.env, GATEHOUSE_WEBHOOK_ALLOW: '127.0.0.1' }
  const { node, token } = await deps.start(flags, env)
  stack.defer(() => node.stop())

  const call = createCaller(`${console}/_db`, token, stopping)
  const targets = await fill(call, folder, ports.slice(1), {
    url: console,
    databases: SAMPLE_DATABASES,
  })
  for (const person of Object.keys(PEOPLE)) await signIn(console, person)
  await assignRoles(call)
  await call(`${API}/invitation`, {
    provider: 'oauth2',
    role: 'editor',
    databases: ['blog'],
    note: 'Nora, new in marketing',
  })
  await addWebhooks(call, receiver)
  const tokens = await createTokens(call)
  const busy = targets.slice(0, BUSY_ENDPOINTS).map(({ url }) => url.replace('http:', 'tcp:'))
  await storeSampleTraffic(flags.data, busy, node.addresses.length)

  deps.onReady({ console: `${console}/_console/`, operatorKey: node.operatorKey.read() })
  await runClients(targets, collections, tokens, stopping, (status) => {
    counts.responses++
    if (status >= 400) counts.rejected++
  })
}

type Call = (path: string, body: unknown, method?: string) => Promise<unknown>

/** Returns a function that sends a request to the API and requires its success. */
const createCaller =
  (base: string, token: string, signal: AbortSignal): Call =>
  async (path, body, method = 'POST') => {
    const response = await fetch(`${base}/${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

const API = '_system/_api'

/** Creates the databases, documents and endpoints. Returns the endpoints that the clients call. */
async function fill(
  call: Call,
  folder: string,
  ports: readonly ReservedPort[],
  own: Target,
): Promise<readonly Target[]> {
  for (const name of SAMPLE_DATABASES) await call(`${API}/database`, { name })
  for (const [path, documents] of collections) await call(path, documents)
  await call('shop/_index/orders/by-state', { fields: ['state'] }, 'PUT')
  await call('shop/_index/products/by-price', { fields: ['price'] }, 'PUT')
  await call(
    'blog/_schema/articles',
    { type: 'object', required: ['title'], properties: { title: { type: 'string' } } },
    'PUT',
  )
  const certificate = { kind: 'local', names: ['localhost', '127.0.0.1'] }
  await call(`${API}/certificate/${SAMPLE_CERTIFICATE}`, certificate, 'PUT')
  const targets = [own]
  const samples = sampleEndpoints(join(folder, 'sensors.sock'))
  for (const [at, { databases, policy, isTaken = false, address, scheme }] of samples.entries()) {
    const reserved = ports[at]
    invariant(reserved, 'each endpoint has a port')
    const endpoint = address ?? `${scheme ?? 'tcp'}://127.0.0.1:${reserved.port}`
    const policyPath = `${API}/policy?${new URLSearchParams({ endpoint })}`
    // Added turned off, then turned on: an endpoint is not added if its port cannot be opened.
    const stored = isTaken ? { enabled: false } : policy
    if (stored !== undefined) await call(policyPath, stored, 'PUT')
    if (!isTaken) await reserved.release()
    await call(`${API}/endpoint`, { endpoint, databases })
    if (isTaken) await call(policyPath, undefined, 'DELETE')
    const existing = databases.filter((name) => name !== 'archive')
    const isCalled = address === undefined && scheme === undefined && !isTaken
    if (!isCalled || policy?.enabled === false) continue
    targets.push({
      url: `http://127.0.0.1:${reserved.port}`,
      databases: existing.length === 0 ? SAMPLE_DATABASES : existing,
    })
  }
  return targets
}

/** Adds the feeds of two collections, with a webhook that delivers their changes and one that fails. */
async function addWebhooks(call: Call, { url, failingUrl }: Receiver): Promise<void> {
  const add = async (name: string, url: string, database: string, collection: string) => {
    await call(`${database}/_feed/${collection}`, {}, 'PUT')
    await call(`${API}/webhook`, { name, url, database, collections: [collection] })
  }
  await add('warehouse', url, 'shop', 'orders')
  await add('helpdesk-search', failingUrl, 'support', 'tickets')
}

/** A receiver of webhooks on loopback. */
interface Receiver {
  /** Accepts every message. */
  readonly url: string
  /** Rejects every message, so that a demo shows a webhook that fails. */
  readonly failingUrl: string
  close(): void
}

/** Starts a receiver of the webhooks of a demo. */
async function startReceiver(): Promise<Receiver> {
  const server = createHttpServer((request, response) => {
    request.resume()
    response.writeHead(request.url === '/accept' ? 204 : 503).end()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/accept`,
    failingUrl: `${origin}/reject`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Gives the people of the demo their roles. */
async function assignRoles(call: Call): Promise<void> {
  const people = (await call(`${API}/user`, undefined, 'GET')) as { id: string; username: string }[]
  for (const { id, username } of people) {
    const [, name = ''] = username.split(':')
    const person: { role: string; databases?: readonly string[] } | undefined =
      PEOPLE[name as keyof typeof PEOPLE]
    if (person === undefined || person.role === 'pending') continue
    const { role, databases } = person
    await call(`${API}/user/${id}`, { role, ...(databases && { databases }) }, 'PATCH')
  }
}

/** Creates the tokens of the clients. Returns them by database. */
async function createTokens(call: Call): Promise<ReadonlyMap<string, string>> {
  const create = async (token: Record<string, unknown>) =>
    ((await call(`${API}/token`, token)) as { token: string }).token
  const expires = new Date(Date.now() + 5 * 86_400_000).toISOString()
  await create({ name: 'reports', role: 'viewer', expires })
  const shop = await create({ name: 'web shop', role: 'editor', databases: ['shop', 'blog'] })
  const gateway = await create({ name: 'gateway', role: 'editor', databases: ['sensors'] })
  const helpdesk = await create({ name: 'helpdesk', role: 'editor' })
  return new Map([
    ['shop', shop],
    ['blog', shop],
    ['sensors', gateway],
    ['support', helpdesk],
  ])
}

interface ReservedPort {
  readonly port: number
  release(): Promise<void>
}

/** Reserves the next free ports of loopback, so that no other program takes them. */
async function reservePorts(count: number): Promise<readonly ReservedPort[]> {
  const ports: ReservedPort[] = []
  for (let port = FIRST_PORT; ports.length < count && port < 65_536; port++) {
    const server = await listen(port)
    if (server === undefined) continue
    const release = () => new Promise<void>((resolve) => void server.close(() => resolve()))
    ports.push({ port, release })
  }
  return ports
}

const listen = (port: number) =>
  new Promise<Server | undefined>((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
