import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { StoreLocation } from '../../../storage/open.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  startProcess,
  storeFlags,
} from '../../../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../../../test-support/start.testing.ts'
import { isNotConfirmed } from '../../failures/not-confirmed.testing.ts'
import { waitUntilDisconnected } from '../../failures/wait-until-disconnected.testing.ts'
import {
  MODEL_SECONDS,
  OPERATIONS,
  pick,
  type Random,
  randomNumbersOf,
  SEED,
} from '../settings.testing.ts'
import { auditRowsOf, checkAuditLog } from './audit.testing.ts'
import { untilJobsEnd } from './jobs.testing.ts'
import type { Call, Model, Operation } from './model.testing.ts'
import { createOperations } from './operations.testing.ts'

// Carries out random operations on databases, documents, schemas, indexes, endpoints, roles, tokens
// and sessions, directly and in jobs, with imports, exports and backups, one after the other, and
// compares the server with a model.
// On PostgreSQL, each operation uses one of two nodes. During some operations, the node is killed or
// stopped, and started again: it has then made the change or not. At the end, the audit log has exactly the changes of the model.
// `npm run test:endurance` carries out operations for a given time.

/** One of this many operations is interrupted by the end of the server, followed by a restart. */
const END_IN = 25

/** The end comes after a random number of turns of the event loop, below a random power of two. */
const END_POWERS = 15

/** Maximum time until a node on a busy machine confirms that its state is current. */
const CONFIRMED = { timeout: 60_000, interval: 20 }

/** Number of operations between comparisons. */
const COMPARE = 10

/** Number of operations that the message of a failure contains. */
const LAST = 15

/** Time limit, ms. */
const LIMIT = 120_000 + MODEL_SECONDS * 2_000 + OPERATIONS * 2_000

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-model-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const amount = MODEL_SECONDS > 0 ? `${MODEL_SECONDS} seconds of` : OPERATIONS

/** Returns a function that is true until the given number or time of operations has been reached. */
function untilEnough(): (operation: number) => boolean {
  const end = performance.now() + MODEL_SECONDS * 1_000
  return (n) => (MODEL_SECONDS > 0 ? performance.now() < end : n <= OPERATIONS)
}

/** Returns a client of the server that retries requests that were not carried out. */
function createCall(socketPath: string, token: string): Call {
  const operator = { Authorization: `Bearer ${token}` }
  return (method, path, body, headers = {}) => {
    const isOther = 'Authorization' in headers || 'Cookie' in headers
    const all = isOther ? headers : { ...operator, ...headers }
    return vi.waitUntil(async () => {
      const response = await sendRequest(0, method, path, { socketPath, body, headers: all })
      return isNotConfirmed(response) ? undefined : response
    }, CONFIRMED)
  }
}

/** Checks the status of a response, and completes the operation. */
async function complete(
  { status: expected, finish }: Operation,
  response: ReturnType<Call>,
): Promise<void> {
  const { status, text } = await response
  if (expected === undefined) expect([200, 201, 202, 204], text).toContain(status)
  else expect(status, text).toBe(expected)
  await finish?.(await response)
}

/** A node with an endpoint of its own, `unix://<socketPath>`. */
interface Server {
  readonly location: StoreLocation
  readonly socketPath: string
  start(): Promise<void>
  process(): ServerProcess
}

/** Starts the nodes of a store: two on PostgreSQL. */
async function startServers(location: StoreLocation): Promise<Server[]> {
  const servers: Server[] = []
  for (const name of 'databaseUrl' in location ? ['a', 'b'] : ['a']) {
    const own = locationOf(location, name)
    const socketPath = join(folder, `admin-${name}.sock`)
    const flags = [...storeFlags(own), '--node', name, '--endpoint', `unix://${socketPath}`]
    let running: ServerProcess | undefined
    const server: Server = {
      location: own,
      socketPath,
      async start() {
        running = await startProcess(flags, { env: SECRETS })
      },
      process: () => running as ServerProcess,
    }
    await server.start()
    servers.push(server)
  }
  return servers
}

/** Returns the location with the name of a node, by which its connections are known. */
function locationOf(location: StoreLocation, name: string): StoreLocation {
  if ('data' in location) return location
  const url = new URL(location.databaseUrl)
  url.searchParams.set('application_name', `node ${name}`)
  return { databaseUrl: url.href }
}

/** Ends a server during an operation, and starts it again. */
async function restart(
  { process, start, location }: Server,
  random: Random,
  completed: Promise<void>,
): Promise<void> {
  let isOver = false
  const ended = completed.catch((error: unknown) => {
    if (!isOver) throw error
  })
  const signal = pick(random, ['SIGKILL', 'SIGTERM'] as const)
  const turns = random(2 ** random(END_POWERS))
  for (let turn = 0; turn < turns; turn++) await nextTurn()
  isOver = true
  process().signal(signal)
  const exit = await process().exit
  if (signal === 'SIGTERM') expect(exit).toEqual({ code: 0, signal: null })
  await ended
  if ('databaseUrl' in location) await waitUntilDisconnected(location.databaseUrl)
  await start()
  await untilJobsEnd(location)
}

forEachEngine((engine) => {
  // Before the database is removed.
  afterEach(killProcesses)

  test(`${amount} operations with restarts match a model`, { timeout: LIMIT }, async () => {
    const location = engine.location()
    const servers = await startServers(location)
    const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
    const calls = servers.map(({ socketPath }) => createCall(socketPath, token))
    let at = 0
    let asked = 0
    const call: Call = (method, path, ...rest) => {
      // All nodes accept and reject the same credentials at any time.
      const isAny = method === 'GET' && path === '/_api/session'
      const to = isAny ? ++asked % calls.length : at
      return (calls[to] as Call)(method, path, ...rest)
    }
    const admins = servers.map(({ socketPath }) => `unix://${socketPath}`)
    const operations = await createOperations(location, folder, admins, call)
    /** Waits until all nodes have applied the model, and directs requests to one of them. */
    const use = async (next: number, model: Model) => {
      for (at = 0; servers.length > 1 && at < servers.length; at++) {
        await vi.waitUntil(() => operations.isCurrent(model), CONFIRMED)
      }
      at = next
    }
    const auditRows: string[] = []
    let model: Model = operations.initial

    const isNext = untilEnough()
    const last: string[] = []
    let n = 1
    try {
      for (; isNext(n); n++) {
        // Repeating some operations with the same seed makes the same choices in the same state.
        const random = randomNumbersOf(SEED, n)
        const isInterrupted = random(END_IN) === 0
        await use(random(servers.length), model)
        const operation = await operations.choose(model, random, n)
        const { method, path, body, headers, after, between = [], partial = [] } = operation
        const text = JSON.stringify(body)?.slice(0, 500) ?? ''
        last.push(`${n}${isInterrupted ? ' (interrupted)' : ''}: ${method} ${path} ${text}`)
        if (last.length > LAST) last.shift()
        const response = call(method, path, body, headers)
        const completed = complete(operation, response)
        if (isInterrupted) await restart(servers[at] as Server, random, completed)
        else await completed

        const { status } = await response.catch(() => ({ status: 0 }))
        const isAcknowledged = status >= 200 && status < 300
        const possible = [
          ...after,
          ...(isInterrupted ? between : []),
          ...(isAcknowledged ? [] : [model, ...partial]),
        ]
        let [next = model] = possible
        if (isInterrupted || possible.length > 1 || n % COMPARE === 0) {
          const found = await operations.read()
          if (possible.length === 1) expect(found).toEqual(next)
          else expect(possible).toContainEqual(found)
          await operations.checkCredentials(found)
          next = found
        }
        auditRows.push(...auditRowsOf(model, next))
        model = next
      }
      await use(0, model)
      for (at = 0; at < servers.length; at++) expect(await operations.read()).toEqual(model)
      at = 0
      await operations.checkCredentials(model)
      await checkAuditLog(location, call, [...auditRows, ...operations.endedSessions])
    } catch (error) {
      throw new Error(`Operation ${n}, seed ${SEED}. The last ones:\n${last.join('\n')}`, {
        cause: error,
      })
    }
    process.stdout.write(`${engine.name}: ${n - 1} operations, seed ${SEED}\n`)
  })
})
