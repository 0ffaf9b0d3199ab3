import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { StoreLocation } from '../../storage/open.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  startProcess,
  storeFlags,
} from '../../test-support/server-process.testing.ts'
import {
  endpointPath,
  makeToken,
  sendRequest,
  type TestResponse,
} from '../../test-support/start.testing.ts'
import { waitUntilDisconnected } from '../failures/wait-until-disconnected.testing.ts'
import { OPERATIONS, pick, type Random, randomNumbers, SEED } from './settings.testing.ts'

// Makes random changes of databases, documents, schemas, indexes and endpoints, one after the
// other, and compares the server with a model. Some changes are interrupted by a kill: the server
// has then made them or not. `npm run test:endurance` makes more of them.

/** A change is interrupted by a kill in one of this many cases, and followed by a restart. */
const KILL_IN = 25

/** Number of changes between comparisons. */
const COMPARE = 10

type Body = Readonly<Record<string, unknown>>

/** A database of the model. Its documents are in one collection. */
interface Database {
  readonly documents: Readonly<Record<string, Body>>
  readonly indexes: readonly string[]
  readonly schema: Body | null
}

interface Model {
  readonly databases: Readonly<Record<string, Database>>
  /** The databases of each endpoint. */
  readonly endpoints: Readonly<Record<string, readonly string[]>>
}

interface Change {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly after: Model
}

const SCHEMA = { properties: { v: { type: 'number' } } }
const EMPTY: Database = { documents: {}, indexes: [], schema: null }
const NAMES = ['one', 'two', 'three']
const INDEXES: Readonly<Record<string, Body>> = {
  'by-v': { fields: ['v'] },
  'by-m': { fields: ['m', '-v'] },
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-model-'))
})
afterEach(killProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function without<T>(record: Readonly<Record<string, T>>, name: string): Record<string, T> {
  const { [name]: _removed, ...rest } = record
  return rest
}

/** Returns a valid change and the model after it. */
function chooseChange(model: Model, random: Random, value: number): Change {
  const name = pick(random, NAMES)
  const database = model.databases[name]
  const set = (next: Partial<Database>): Model => ({
    ...model,
    databases: { ...model.databases, [name]: { ...EMPTY, ...database, ...next } },
  })
  const kind = random(12)
  if (kind === 0) {
    const endpoint = `unix://${join(folder, `${name}.sock`)}`
    const { endpoints } = model
    return endpoint in endpoints
      ? {
          ...{ method: 'DELETE', path: endpointPath(endpoint) },
          after: { ...model, endpoints: without(endpoints, endpoint) },
        }
      : {
          ...{ method: 'POST', path: '/_api/endpoint', body: { endpoint, databases: [name] } },
          after: { ...model, endpoints: { ...endpoints, [endpoint]: [name] } },
        }
  }
  if (database === undefined) {
    return { method: 'POST', path: '/_api/database', body: { name }, after: set(EMPTY) }
  }
  const { documents, indexes, schema } = database
  const path = `/_db/${name}/things`
  if (kind === 1) {
    const after = { ...model, databases: without(model.databases, name) }
    return { method: 'DELETE', path: `/_api/database/${name}`, after }
  }
  if (kind === 2) {
    const index = pick(random, Object.keys(INDEXES))
    const target = { path: `/_db/${name}/_index/things/${index}` }
    return indexes.includes(index)
      ? {
          ...target,
          method: 'DELETE',
          after: set({ indexes: indexes.filter((each) => each !== index) }),
        }
      : {
          ...target,
          method: 'PUT',
          body: INDEXES[index],
          after: set({ indexes: [...indexes, index].sort() }),
        }
  }
  if (kind === 3) {
    const target = { path: `/_db/${name}/_schema/things` }
    return schema === null
      ? { ...target, method: 'PUT', body: SCHEMA, after: set({ schema: SCHEMA }) }
      : { ...target, method: 'DELETE', after: set({ schema: null }) }
  }
  if (kind === 4) {
    const least = value - random(20)
    const change = (id: string) => Number(documents[id]?.v) >= least
    const isDelete = random(2) === 0
    const next = Object.entries(documents).flatMap(([id, each]) =>
      change(id) ? (isDelete ? [] : [[id, { ...each, m: value }] as const]) : [[id, each] as const],
    )
    const after = set({ documents: Object.fromEntries(next) })
    const target = { path: `${path}?v:gte=${least}`, after }
    return isDelete
      ? { ...target, method: 'DELETE' }
      : { ...target, method: 'PATCH', body: { m: value } }
  }
  const id = `d${random(20)}`
  const document = documents[id]
  const put = (next: Body) => set({ documents: { ...documents, [id]: next } })
  if (document === undefined) {
    const body = { id, v: value }
    return { method: 'POST', path, body, after: put(body) }
  }
  const target = { path: `${path}/${id}` }
  if (kind === 5)
    return { ...target, method: 'DELETE', after: set({ documents: without(documents, id) }) }
  if (kind === 6) {
    return { ...target, method: 'PATCH', body: { m: value }, after: put({ ...document, m: value }) }
  }
  return { ...target, method: 'PUT', body: { v: value }, after: put({ id, v: value }) }
}

type Call = (method: string, path: string, body?: unknown) => Promise<TestResponse>

/** Reads the state of the server. `admin` is its first endpoint. */
async function readModel(call: Call, admin: string): Promise<Model> {
  const get = async (path: string) => {
    const { status, text } = await call('GET', path)
    expect([path, status, text]).toEqual([path, 200, text])
    return text
  }
  const databases: Record<string, Database> = {}
  for (const { name } of JSON.parse(await get('/_api/database')) as { name: string }[]) {
    if (name === '_system') continue
    const documents: Record<string, Body> = {}
    let { indexes, schema } = EMPTY
    for (const line of (await get(`/_db/${name}/_export`)).trim().split('\n')) {
      const entry = JSON.parse(line)
      if ('collection' in entry) {
        schema = entry.schema
        indexes = entry.indexes.map((index: { name: string }) => index.name).sort()
      }
      if ('document' in entry) documents[entry.document.id] = entry.document
    }
    databases[name] = { documents, indexes, schema }
  }
  const list: { endpoint: string; databases: string[] }[] = JSON.parse(await get('/_api/endpoint'))
  const endpoints = list
    .filter(({ endpoint }) => endpoint !== admin)
    .map((each) => [each.endpoint, each.databases] as const)
  return { databases, endpoints: Object.fromEntries(endpoints) }
}

forEachEngine((engine) => {
  test(
    `${OPERATIONS} changes with kills match a model`,
    async () => {
      const random = randomNumbers(SEED)
      const location: StoreLocation = engine.location()
      const socketPath = join(folder, 'admin.sock')
      const admin = `unix://${socketPath}`
      const start = () =>
        startProcess([...storeFlags(location), '--endpoint', admin], { env: SECRETS })
      let server: ServerProcess = await start()
      const token = await makeToken({ data: '', databaseUrl: undefined, ...location })
      const headers = { Authorization: `Bearer ${token}` }
      const call: Call = (method, path, body) =>
        sendRequest(0, method, path, { socketPath, body, headers })
      let model: Model = { databases: {}, endpoints: {} }

      for (let n = 1; n <= OPERATIONS; n++) {
        const { after, ...change } = chooseChange(model, random, n)
        const context = `change ${n}, seed ${SEED}: ${JSON.stringify(change)}`
        const answer = call(change.method, change.path, change.body)
        if (random(KILL_IN) === 0) {
          const answered = answer.catch(() => undefined)
          for (let turns = random(50); turns > 0; turns--) await nextTurn()
          server.signal('SIGKILL')
          await server.exit
          if ('databaseUrl' in location) await waitUntilDisconnected(location.databaseUrl)
          const isDone = ((await answered)?.status ?? 500) < 300
          server = await start()
          const found = await readModel(call, admin)
          if (isDone) expect(found, context).toEqual(after)
          else expect([model, after], context).toContainEqual(found)
          model = found
        } else {
          const { status, text } = await answer
          expect(status, `${context}\n${text}`).toBeLessThan(300)
          model = after
          if (n % COMPARE === 0) expect(await readModel(call, admin), context).toEqual(model)
        }
      }
      expect(await readModel(call, admin)).toEqual(model)
    },
    120_000 + OPERATIONS * 2_000,
  )
})
