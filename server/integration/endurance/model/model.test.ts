import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, onTestFailed, test, vi } from 'vitest'
import { freePorts } from '../../../endpoints/listeners/free-ports.testing.ts'
import type { StoreLocation } from '../../../storage/open.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { sendUntilConfirmed } from '../../../test-support/not-confirmed.testing.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
  storeFlags,
} from '../../../test-support/server-process.testing.ts'
import { makeToken, sendRequest, type TestResponse } from '../../../test-support/start.testing.ts'
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
import { runCommand, secretsOf } from './commands.testing.ts'
import { untilIdle } from './jobs.testing.ts'
import type { Call, CommandOperation, Model, Operation } from './model.testing.ts'
import { createOperations } from './operations.testing.ts'

// Carries out random operations on databases, documents, schemas, indexes, endpoints, roles, tokens
// and sessions, directly, in jobs and by commands, with imports, exports and backups, one after the
// other, and compares the server with a model.
// On PostgreSQL, each operation uses one of two nodes. During some operations, the node is killed or
// stopped, and started again: the change is then made or not. A command may be killed with it. At
// the end, the audit log has the changes of the model.
// `npm run test:endurance` carries out operations for a given time.

/** On average, one in this many operations is interrupted by a kill or stop of the server. */
const END_IN = 25

/** The interruption comes after fewer than 2^n turns of the event loop, with a random n below this. */
const END_POWERS = 15

/** If a command is killed too, the interruption comes after a random time below this, ms. */
const COMMAND_TIME = 1_000

/** Drain time of a node that is stopped, s. */
const DRAIN = 2

/** Maximum time until a node on a busy machine has applied the changes of others. */
const CURRENT = { timeout: 60_000, interval: 20 }

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
    return sendUntilConfirmed(() =>
      sendRequest(0, method, path, { socketPath, body, headers: all }),
    )
  }
}

/** Checks the status of a response, and completes the operation. */
async function complete(
  { status: expected = [200, 201, 202, 204], finish }: Operation | CommandOperation,
  response: Promise<TestResponse>,
): Promise<void> {
  const { status, text } = await response
  expect([expected].flat(), text).toContain(status)
  await finish?.(await response)
}

/** Returns an operation as text. */
function describe(operation: Operation | CommandOperation): string {
  if ('command' in operation) return `gatehouse ${operation.command.join(' ')}`
  const { method, path, body, headers, status } = operation
  const parts = [JSON.stringify(headers), JSON.stringify(body)?.slice(0, 500), status]
  return [method, path, ...parts.filter((part) => part !== undefined)].join(' ')
}

/** A node with endpoints of its own: `unix://<socketPath>`, and one on a port. */
interface Server {
  readonly location: StoreLocation
  readonly socketPath: string
  readonly port: number
  start(): Promise<void>
  process(): ServerProcess
}

/** Starts the nodes of a store: two on PostgreSQL. */
async function startServers(location: StoreLocation): Promise<Server[]> {
  const servers: Server[] = []
  for (const name of 'databaseUrl' in location ? ['a', 'b'] : ['a']) {
    const own = locationOf(location, name)
    const socketPath = join(folder, `admin-${name}.sock`)
    const [port = 0] = await freePorts(1)
    const flags = [
      ...[...storeFlags(own), '--node', name, '--drain', String(DRAIN)],
      ...['--endpoint', `unix://${socketPath}`, '--endpoint', `tcp://127.0.0.1:${port}`],
    ]
    let running: ServerProcess | undefined
    const server: Server = {
      location: own,
      socketPath,
      port,
      async start() {
        running = await startProcess(flags, { env: secretsOf(location) })
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

/**
 * Ends a server during an operation, and starts it again.
 *
 * @param killCommand for an operation that is a command: in some cases it is killed with the server.
 */
async function restart(
  { process, start, location }: Server,
  random: Random,
  completed: Promise<void>,
  killCommand: (() => void) | undefined,
): Promise<void> {
  let isOver = false
  const ended = completed.catch((error: unknown) => {
    if (!isOver) throw error
  })
  const signal = pick(random, ['SIGKILL', 'SIGTERM'] as const)
  const turns = random(2 ** random(END_POWERS))
  if (killCommand !== undefined) await pause(random(COMMAND_TIME))
  else for (let turn = 0; turn < turns; turn++) await nextTurn()
  isOver = true
  process().signal(signal)
  if (random(2) === 0) killCommand?.()
  const exit = await process().exit
  if (signal === 'SIGTERM') expect(exit).toEqual({ code: 0, signal: null })
  await ended
  if ('databaseUrl' in location) await waitUntilDisconnected(location.databaseUrl)
  await start()
  await untilIdle(location)
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
    const admins = servers.flatMap(({ socketPath, port }) => {
      return [`unix://${socketPath}`, `tcp://127.0.0.1:${port}`]
    })
    const [{ port }] = servers as [Server]
    const operations = await createOperations(location, folder, admins, port, token, call)
    /** Waits until all nodes have applied the model, and directs requests to one of them. */
    const use = async (next: number, model: Model) => {
      for (at = 0; servers.length > 1 && at < servers.length; at++) {
        await vi.waitUntil(() => operations.isCurrent(model), CURRENT)
      }
      at = next
    }
    const auditRows: string[] = []
    const possibleRows: string[] = []
    let model: Model = operations.initial

    const isNext = untilEnough()
    const last: string[] = []
    let n = 1
    onTestFailed(() => {
      const text = `Operation ${n}, seed ${SEED}. The last ones:\n${last.join('\n')}\n`
      process.stdout.write(text)
    })
    for (; isNext(n); n++) {
      // Repeating some operations with the same seed makes the same choices in the same state.
      const random = randomNumbersOf(SEED, n)
      const isInterrupted = random(END_IN) === 0
      await use(random(servers.length), model)
      const operation = await operations.choose(model, random, n)
      const { after, between = [], partial = [] } = operation
      possibleRows.push(...(operation.possibleRows ?? []))
      last.push(`${n}${isInterrupted ? ' (interrupted)' : ''}: ${describe(operation)}`)
      if (last.length > LAST) last.shift()
      const kill = new AbortController()
      const response =
        'command' in operation
          ? runCommand(location, operation.command, kill.signal)
          : call(operation.method, operation.path, operation.body, operation.headers)
      const completed = complete(operation, response)
      const killCommand = 'command' in operation ? () => kill.abort() : undefined
      if (isInterrupted) await restart(servers[at] as Server, random, completed, killCommand)
      else await completed
      operations.cleanUp()

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
    const expected = [
      'token.create local:operator/tests',
      ...auditRows,
      ...operations.endedSessions,
    ]
    await checkAuditLog(location, call, expected, possibleRows)
    process.stdout.write(`${engine.name}: ${n - 1} operations, seed ${SEED}\n`)
  })
})
