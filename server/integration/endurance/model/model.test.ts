import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
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
import { OPERATIONS, pick, type Random, randomNumbers, SEED } from '../settings.testing.ts'
import { type Access, createAccess } from './access.testing.ts'
import {
  changeDocument,
  changeIndex,
  changeMatching,
  changeSchema,
  createDatabase,
  dropDatabase,
  readDatabases,
} from './databases.testing.ts'
import { changeEndpoint, changeEndpoints, readEndpoints } from './endpoints.testing.ts'
import { runJob, untilJobsEnd } from './jobs.testing.ts'
import { type Call, type Change, type Model, NAMES } from './model.testing.ts'

// Makes random changes of databases, documents, schemas, indexes, endpoints, roles and tokens,
// directly and in jobs, one after the other, and compares the server with a model. Some changes are
// interrupted by a kill: the server has then made them or not. `npm run test:endurance` makes more
// of them.

/** A change is interrupted by a kill in one of this many cases, and followed by a restart. */
const KILL_IN = 25

/** A kill waits a random number of turns of the event loop, below a random power of two. */
const KILL_POWERS = 15

/** Maximum time until a node on a busy machine confirms that its state is current. */
const CONFIRMED = { timeout: 60_000, interval: 20 }

/** Number of changes between comparisons. */
const COMPARE = 10

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-model-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Server {
  readonly call: Call
  readonly access: Access
}

/** Returns a valid change. */
function chooseChange(model: Model, random: Random, value: number, server: Server): Change {
  const { call, access } = server
  switch (random(18)) {
    case 0:
      return changeEndpoint(model, random, folder)
    case 1:
      return changeEndpoints(model, random, folder, call)
    case 2:
      return access.changeRole(model, random)
    case 3:
    case 4:
      return access.changeToken(model, random, value)
  }
  const name = pick(random, NAMES)
  if (model.databases[name] === undefined) return createDatabase(model, name)
  switch (random(12)) {
    case 0:
      return dropDatabase(model, name)
    case 1:
      return changeIndex(model, name, random)
    case 2:
      return changeSchema(model, name)
    case 3:
      return changeMatching(model, name, random, value)
    case 4:
    case 5:
      return runJob(model, name, random, value, call)
    default:
      return changeDocument(model, name, random, value)
  }
}

forEachEngine((engine) => {
  // Before the database is removed.
  afterEach(killProcesses)

  test(
    `${OPERATIONS} changes with kills match a model`,
    async () => {
      const random = randomNumbers(SEED)
      const location = engine.location()
      const socketPath = join(folder, 'admin.sock')
      const admin = `unix://${socketPath}`
      const start = () =>
        startProcess([...storeFlags(location), '--endpoint', admin], { env: SECRETS })
      let server: ServerProcess = await start()
      const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
      const operator = { Authorization: `Bearer ${token}` }
      const call: Call = (method, path, body, headers = {}) => {
        const isOther = 'Authorization' in headers || 'Cookie' in headers
        const all = isOther ? headers : { ...operator, ...headers }
        const send = () => sendRequest(0, method, path, { socketPath, body, headers: all })
        return vi.waitUntil(async () => {
          const response = await send()
          return isNotConfirmed(response) ? undefined : response
        }, CONFIRMED)
      }
      const access = await createAccess(location, call)
      const read = async (): Promise<Model> => ({
        databases: await readDatabases(call),
        endpoints: await readEndpoints(call, admin),
        ...(await access.read()),
      })
      let model: Model = { databases: {}, endpoints: {}, people: access.people, tokens: {} }

      for (let n = 1; n <= OPERATIONS; n++) {
        const change = chooseChange(model, random, n, { call, access })
        const { method, path, body, headers, after, between = [], finish } = change
        const context = `change ${n}, seed ${SEED}: ${method} ${path} ${JSON.stringify(body)}`
        const answer = call(method, path, body, headers)
        const complete = async () => {
          const response = await answer
          expect(response.status, `${context}\n${response.text}`).toBeLessThan(300)
          await finish?.(response)
        }
        const isKilled = random(KILL_IN) === 0
        if (isKilled) {
          let isOver = false
          const completed = complete().catch((error: unknown) => {
            if (!isOver) throw error
          })
          const turns = random(2 ** random(KILL_POWERS))
          for (let turn = 0; turn < turns; turn++) await nextTurn()
          isOver = true
          server.signal('SIGKILL')
          await server.exit
          await completed
          if ('databaseUrl' in location) await waitUntilDisconnected(location.databaseUrl)
          server = await start()
          await untilJobsEnd(location)
        } else await complete()

        const { status } = await answer.catch(() => ({ status: 0 }))
        const isAcknowledged = status >= 200 && status < 300
        const possible = [
          ...after,
          ...(isKilled ? between : []),
          ...(isAcknowledged ? [] : [model]),
        ]
        const [only = model] = possible
        if (isKilled || possible.length > 1 || n % COMPARE === 0) {
          const found = await read()
          if (possible.length === 1) expect(found, context).toEqual(only)
          else expect(possible, context).toContainEqual(found)
          await access.check(found)
          model = found
        } else model = only
      }
      const found = await read()
      expect(found).toEqual(model)
      await access.check(found)
    },
    120_000 + OPERATIONS * 2_000,
  )
})
