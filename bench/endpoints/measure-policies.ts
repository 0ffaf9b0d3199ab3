import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { NODE_FLAGS } from '../../bin/node-flags.js'
import type { PolicyInput } from '../../server/contract/endpoints/policy.ts'
import { openLoad } from '../load/load.ts'
import {
  CONNECTIONS,
  createPinning,
  get,
  measure,
  ratios,
  type ServerLoad,
  type Slice,
} from '../load/rounds.ts'
import { FIRST_PORT, nextHost, requestOk } from '../servers/address.ts'
import { makeFolder } from '../servers/folder.ts'
import { startProcess } from '../servers/process.ts'

/** The port of the documents; the first port is that of the administration. */
const DATA = FIRST_PORT + 1
/** Number of documents that are read in turn. */
const DOCUMENTS = 1_000
const DATABASE = 'library'
const ORIGIN = 'https://app.example'

/** Every field of a policy, with values that admit the reads. */
const EVERY_RULE: PolicyInput = {
  enabled: true,
  closesIn: '7d',
  note: 'For the pages of the library',
  allow: ['127.0.0.0/8', '10.0.0.0/8', '2001:db8::/32'],
  deny: ['192.0.2.0/24', '198.51.100.7'],
  readOnly: true,
  anonymous: { read: ['articles'] },
  administration: false,
  cors: { origins: [ORIGIN] },
  rateLimit: { requestsPerSecond: 100_000 },
  maxConnections: 1_000,
  maxBodyBytes: 1_048_576,
}

/** What is compared: another version, and this one with and without rules and an access log. */
const KINDS = ['before', 'plain', 'rules', 'log'] as const

export type PolicyKind = (typeof KINDS)[number]

const idOf = (at: number) => `article-${String(at).padStart(8, '0')}`

/**
 * Starts a node of a version with documents. It creates all of its data itself, because another
 * version can have another schema.
 *
 * @param checkout the folder of the version.
 */
async function startNode(checkout: string, kind: PolicyKind) {
  const host = nextHost()
  const data = makeFolder(host)
  const log = kind === 'log' ? ['--access-log', join(data, 'access.log')] : []
  const own = process.env
  const env = Object.fromEntries(
    Object.entries(own).filter(([key]) => !key.startsWith('GATEHOUSE_')),
  )
  const main = [...NODE_FLAGS, join(checkout, 'server/main.ts')]
  const node = await startProcess(
    process.execPath,
    [...main, 'start', '--data', data, '--endpoint', `tcp://${host}:${FIRST_PORT}`, ...log],
    env,
    async (printed) => printed().includes('gatehouse is ready'),
  )
  const create = ['token', 'create', '--data', data, '--name', 'reader', '--role', 'admin']
  const token = execFileSync(process.execPath, [...main, ...create], { env, encoding: 'utf8' })
  const headers = { Authorization: `Bearer ${token.trim()}` }
  const send = (method: string, path: string, body: unknown, port = FIRST_PORT) =>
    requestOk(host, port, method, path, body, headers)
  const endpoint = `tcp://${host}:${DATA}`
  await send('POST', '/_api/database', { name: DATABASE })
  await send('POST', '/_api/endpoint', { endpoint, databases: [DATABASE] })
  const rest = { title: 'On the measurement of servers', author: 'ada', year: 2026 }
  const documents = Array.from({ length: DOCUMENTS }, (_, at) => ({ id: idOf(at), ...rest }))
  await send('POST', '/articles', documents, DATA)
  if (kind === 'rules') await send('PUT', `/_api/policy?endpoint=${endpoint}`, EVERY_RULE)
  const head = `Authorization: ${headers.Authorization}\r\nOrigin: ${ORIGIN}\r\n`
  const reads = documents.map(({ id }) => get(host, DATA, `/articles/${id}`, head))
  const openReads: ServerLoad['openLoad'] = () => openLoad({ host, port: DATA }, reads, CONNECTIONS)
  return { ...node, openLoad: openReads }
}

export interface PolicyRounds {
  /** How often new processes are started: those of the same code differ. */
  readonly starts: number
  readonly rounds: number
  /** Duration of a slice and of the warm-up of each load, ms. */
  readonly slice: number
  readonly warmUp: number
}

/**
 * Compares the CPU time of reads with those of another version, in alternating slices.
 *
 * @param before the folder of the other version.
 * @returns the ratios to the other version in the same round, and the slices.
 */
export async function measurePolicies(
  before: string,
  { starts, ...rounds }: PolicyRounds,
): Promise<{ ratiosOf: (kind: PolicyKind) => number[]; slices: Map<PolicyKind, Slice[]> }> {
  const slices = new Map(KINDS.map((kind): [PolicyKind, Slice[]] => [kind, []]))
  const now = join(import.meta.dirname, '../..')
  const pinning = createPinning()
  for (let left = starts; left > 0; left--) {
    const nodes = new Map<PolicyKind, Awaited<ReturnType<typeof startNode>>>()
    for (const kind of KINDS) {
      const node = await startNode(kind === 'before' ? before : now, kind)
      pinning?.pin(node.process)
      nodes.set(kind, node)
    }
    const loads = new Map([...nodes].map(([kind, node]) => [kind, { ...node, server: node }]))
    for (const [kind, each] of await measure(loads, KINDS, { ...rounds, share: 1 / left })) {
      slices.get(kind)?.push(...each)
    }
    for (const node of nodes.values()) await node.stop()
  }
  pinning?.end()
  return { ratiosOf: (kind) => ratios(slices, kind, 'before', 'cost'), slices }
}
