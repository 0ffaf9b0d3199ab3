import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { ensureOperator } from '../../access/people.ts'
import { createToken } from '../../access/tokens.ts'
import { createRecorder } from '../../audit/record.ts'
import { verifyChain } from '../../audit/verify.ts'
import type { Actor } from '../../contract/audit/audit.ts'
import {
  CHANGE_RETENTION,
  type EndpointChangeInput,
  MAX_LISTED_CHANGES,
  MAX_UNFINISHED_CHANGES,
} from '../../contract/endpoints/endpoint-change.ts'
import { Failure } from '../../failure.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { Store } from '../../storage/store.ts'
import {
  forEachEngine,
  forEngine,
  type TestEngine,
} from '../../storage/test-support/each-engine.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { createLoneRegistry } from '../registry/reconciler/lone-node.testing.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import { readEndpoints } from '../registry/repository.ts'
import { createEndpointWriter, deleteEndpoint } from '../writes/endpoint-writer.ts'
import { type BulkChanges, createBulkChanges } from './bulk-changes.ts'
import { LEASE } from './claims.ts'
import type { BulkRequest } from './repository.ts'
import { groupsOf } from './runner.ts'

const actor: Actor = { name: 'github:1', by: 'session', address: '192.0.2.7' }
const record = createRecorder()
const at = (port: number) => `tcp://127.0.0.1:${port}`
const puts = (count: number, databases = ['a']): EndpointChangeInput[] =>
  Array.from({ length: count }, (_, n) => ({ endpoint: at(1000 + n), databases }))

const removals = (count: number): EndpointChangeInput[] =>
  Array.from({ length: count }, (_, n) => ({ endpoint: at(1000 + n), remove: true }))

/**
 * Creates bulk changes that store endpoints without opening them. `before` is awaited before each
 * change.
 */
async function setUp(
  store: Store,
  before: (endpoint: string) => Promise<unknown> = async () => {},
  now: () => number = Date.now,
  onError: (error: unknown) => void = (error) => {
    throw error
  },
  endpoints?: Pick<EndpointRegistry, 'add' | 'remove'>,
) {
  const writer = createEndpointWriter(store, record)
  const personId = await ensureOperator(store, 0)
  const bulk = createBulkChanges({
    store,
    record,
    endpoints: endpoints ?? {
      async add({ endpoint, databases }, by, expected, part) {
        await before(endpoint)
        await writer({ endpoint, databases, actor: by, expected, part })
      },
      async remove(endpoint, by, expected, part) {
        await before(endpoint)
        await writer({ endpoint, databases: null, actor: by, expected, part })
      },
    },
    publish: () => {},
    now,
    onError,
  })
  running.push(bulk)
  const session = { hash: 'x', id: 'x', created_at: 0, last_seen_at: 0, expires_at: 1 }
  await store.db
    .insertInto('sessions')
    .values({ ...session, person_id: personId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const principal = { personId, by: 'session', credential: 'x', role: 'admin' } as const
  const request = (changes: readonly EndpointChangeInput[], more = {}): BulkRequest => ({
    actor,
    principal,
    requestEndpoint: at(1),
    changes,
    keepOnFailure: false,
    ...more,
  })
  return { bulk, request, personId }
}

let running: BulkChanges[] = []

async function stopAll(): Promise<void> {
  const all = running
  running = []
  await Promise.all(all.map((bulk) => bulk.stop()))
}

const ended = (bulk: BulkChanges, id: string) =>
  vi.waitFor(async () => {
    const page = await bulk.page(id, -1, 100)
    expect(page.state).not.toBe('running')
    return page
  }, WAIT)

/** Lets `count` changes pass, and the rest once it is opened. */
function createGate(count: number) {
  const opened = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  let passed = 0
  return {
    wait: async () => {
      passed += 1
      if (passed <= count) return
      reached.resolve()
      await opened.promise
    },
    reached: reached.promise,
    open: opened.resolve,
  }
}

const open = async (engine: TestEngine) => engine.open(engine.name === 'sqlite' ? 'node' : 'tool')

/** Ends the token of a bulk change. */
interface Tokens {
  readonly delete: () => Promise<unknown>
  readonly expire: () => Promise<unknown>
}

forEachEngine((engine) => {
  afterEach(stopAll)

  test('a removal is unchanged if another process has just removed the endpoint', async () => {
    const store = await open(engine)
    const registry = createLoneRegistry(store, engine.name === 'postgres')
    onTestFinished(() => registry.stop(0))
    const [port = 0] = await freePorts(1)
    await registry.add({ endpoint: at(port), databases: ['a'] }, actor)
    await deleteEndpoint(store, at(port), { actor, record })
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const { bulk, request } = await setUp(store, undefined, undefined, onError, registry)
    const { id } = await bulk.begin(request([{ endpoint: at(port), remove: true }]))
    await vi.waitFor(async () => {
      const { state } = await bulk.page(id, -1, 1)
      expect(errors.length > 0 || state !== 'running').toBe(true)
    }, WAIT)
    expect(errors).toEqual([])
    expect(await bulk.page(id, -1, 1)).toMatchObject({ state: 'done', unchanged: 1, left: 0 })
  })

  test('each change has its own outcome and its own row in the audit log', async () => {
    const store = await open(engine)
    const { bulk, request } = await setUp(store, async (endpoint) => {
      if (endpoint === at(1007)) throw new Failure('conflict', 'The port is taken.')
    })
    const first = await ended(bulk, (await bulk.begin(request(puts(100)))).id)
    expect(first).toMatchObject({ state: 'done', total: 100, made: 99, failed: 1, left: 0 })
    expect(first.failures).toEqual([
      {
        at: 7,
        endpoint: at(1007),
        error: true,
        code: 409,
        errorNum: 1200,
        errorMessage: 'The port is taken.',
      },
    ])
    const [{ revision } = { revision: 0 }] = await readEndpoints(store)
    const changes: EndpointChangeInput[] = [
      { endpoint: at(1000), databases: ['a'] },
      { endpoint: at(1001), databases: ['b'], expect: revision + 1_000 },
      { endpoint: at(1002), databases: ['b'], expect: null },
      { endpoint: at(1003), remove: true },
      { endpoint: at(1004), databases: ['b'] },
      { endpoint: at(5000), remove: true },
    ]
    const { id } = await bulk.begin(request(changes))
    const second = await ended(bulk, id)
    expect(second).toMatchObject({ made: 2, unchanged: 2, failed: 2, left: 0, removals: 2 })
    expect(second.failures.map(({ at, code }) => [at, code])).toEqual([
      [1, 412],
      [2, 412],
    ])
    const rows = await store.db
      .selectFrom('audit')
      .select(['action', 'target'])
      .where('change', '=', id)
      .orderBy('seq')
      .execute()
    expect(rows).toEqual([
      { action: 'endpoint.change', target: id },
      { action: 'endpoint.remove', target: at(1003) },
      { action: 'endpoint.map', target: at(1004) },
    ])
    expect(await verifyChain(store)).toMatchObject({ intact: true })
  })

  test('failures are read page by page', async () => {
    const { bulk, request } = await setUp(await open(engine), async () => {
      throw new Failure('conflict', 'taken')
    })
    const { id } = await bulk.begin(request(puts(5)))
    expect(await ended(bulk, id)).toMatchObject({ failed: 5, next: null })
    const page = await bulk.page(id, 1, 2)
    expect(page.failures.map((each) => each.at)).toEqual([2, 3])
    expect(page.next).toBe(3)
  })

  test('no change is made after a cancel has returned', async () => {
    const store = await open(engine)
    const gate = createGate(40)
    const { bulk, request } = await setUp(store, gate.wait)
    const { id } = await bulk.begin(request(puts(200)))
    await gate.reached
    expect(await bulk.cancel(id, actor)).toMatchObject({ state: 'cancelled' })
    const before = await readEndpoints(store)
    gate.open()
    await bulk.stop()
    expect(await readEndpoints(store)).toEqual(before)
    const view = await bulk.page(id, -1, 1)
    expect(view).toMatchObject({ made: before.length, left: 200 - before.length, failed: 0 })
    // Cancelling again has no effect.
    expect(await bulk.cancel(id, actor)).toEqual(await bulk.cancel(id, actor))
    await expect(bulk.cancel('x', actor)).rejects.toMatchObject({ code: 'not-found' })
  })

  test('a bulk change stops when its caller loses the role operator', async () => {
    const store = await open(engine)
    const gate = createGate(10)
    const { bulk, request, personId } = await setUp(store, gate.wait)
    const { id } = await bulk.begin(request(puts(60)))
    await gate.reached
    await store.db
      .updateTable('people')
      .set({ role: 'viewer' })
      .where('id', '=', personId)
      .execute()
    gate.open()
    const { state, made, failed, left } = await ended(bulk, id)
    expect([state, made + left, failed]).toEqual(['stopped', 60, 0])
    expect(made).toBeLessThanOrEqual(10)
    expect(await readEndpoints(store)).toHaveLength(made)
  })

  test.each([
    ['is revoked', (tokens: Tokens) => tokens.delete()],
    ['expires', (tokens: Tokens) => tokens.expire()],
  ])(
    'a bulk change stops when its token %s, and continues when its session ends',
    async (_, end) => {
      const store = await open(engine)
      const gate = createGate(0)
      const { bulk, request, personId } = await setUp(store, gate.wait)
      const owner = { personId, role: 'admin' } as const
      const input = { name: 'x', role: 'operator' } as const
      const deps = { store, record, now: Date.now }
      const { info } = await createToken(deps, owner, input, actor)
      const principal = { personId, by: 'token', credential: info.id, role: 'operator' } as const
      const byToken = await bulk.begin(request(puts(3), { principal }))
      await gate.reached
      const { db } = store
      await end({
        delete: () => db.deleteFrom('tokens').where('id', '=', info.id).execute(),
        expire: () =>
          db
            .updateTable('tokens')
            .set({ expires_at: Date.now() - 1 })
            .execute(),
      })
      const bySession = await bulk.begin(request(puts(3)))
      await store.db.deleteFrom('sessions').execute()
      gate.open()
      expect(await ended(bulk, byToken.id)).toMatchObject({ state: 'stopped', made: 0, left: 3 })
      expect(await ended(bulk, bySession.id)).toMatchObject({ state: 'done', made: 3 })
    },
  )

  test('another process continues a bulk change and repeats no change', async () => {
    const store = await open(engine)
    const gate = createGate(70)
    const first = await setUp(store, gate.wait)
    const { id } = await first.bulk.begin(first.request(puts(150)))
    await gate.reached
    const second = await setUp(store, undefined, () => Date.now() + LEASE + 1_000)
    second.bulk.wake()
    expect(await ended(second.bulk, id)).toMatchObject({ state: 'done', made: 150, left: 0 })
    // The first node no longer holds the claim on its remaining changes.
    gate.open()
    await first.bulk.stop()
    const rows = await store.db
      .selectFrom('audit')
      .select('target')
      .where('change', '=', id)
      .where('action', '=', 'endpoint.add')
      .execute()
    expect(new Set(rows.map(({ target }) => target)).size).toBe(150)
    expect(rows).toHaveLength(150)
  })

  test('a bulk change waits while the database is unavailable', async () => {
    const store = await open(engine)
    let away = true
    const { bulk, request } = await setUp(store, async (endpoint) => {
      if (away && endpoint === at(1003)) throw new StoreUnavailable()
    })
    const { id } = await bulk.begin(request(puts(50)))
    await expect.poll(async () => (await bulk.page(id, -1, 1)).made).toBeGreaterThan(0)
    away = false
    await vi.waitFor(async () => {
      bulk.wake()
      expect(await bulk.page(id, -1, 1)).toMatchObject({ state: 'done', made: 50, failed: 0 })
    }, WAIT)
  })

  test('removals of endpoints that do not exist are stored in batches', async () => {
    const store = await open(engine)
    let transactions = 0
    const counting: Store = {
      ...store,
      change(work) {
        transactions++
        return store.change(work)
      },
    }
    const { bulk, request } = await setUp(counting, async () => {
      throw new Failure('endpoint-not-found', 'endpoint not found')
    })
    const { id } = await bulk.begin(request(removals(250)))
    expect(await ended(bulk, id)).toMatchObject({ state: 'done', unchanged: 250, left: 0 })
    // One creates the bulk change.
    expect(transactions).toBe(1 + 3)
    const outcomes = await store.db
      .selectFrom('endpoint_change_outcomes')
      .select('at')
      .where('state', '=', 'unchanged')
      .orderBy('at')
      .execute()
    expect(outcomes).toEqual(Array.from({ length: 250 }, (_, n) => ({ at: n })))
  })

  test('changes whose outcomes could not be stored are made again after those in progress', async () => {
    const store = await open(engine)
    const gate = Promise.withResolvers<void>()
    const attempts: string[] = []
    let fails = false
    const failing: Store = {
      ...store,
      change(work) {
        if (!fails) return store.change(work)
        fails = false
        return Promise.reject(new StoreUnavailable())
      },
    }
    const onError = vi.fn()
    const before = async (endpoint: string) => {
      attempts.push(endpoint)
      if (endpoint === at(1000)) return gate.promise
      fails = attempts.length === changes.length
      throw new Failure('endpoint-not-found', 'endpoint not found')
    }
    const { bulk, request } = await setUp(failing, before, undefined, onError)
    // The outcomes of all but the first are one batch.
    const changes = removals(101)
    const [first, ...others] = changes.map(({ endpoint }) => endpoint)
    const { id } = await bulk.begin(request(changes))
    await expect.poll(() => onError).toHaveBeenCalledOnce()
    bulk.wake()
    // More queries than a run makes before its first change.
    for (let n = 0; n < 20; n++) {
      await bulk.page(id, -1, 1)
      await nextTurn()
    }
    expect(attempts).toEqual([first, ...others])
    gate.resolve()
    await vi.waitFor(async () => {
      bulk.wake()
      expect(await bulk.page(id, -1, 1)).toMatchObject({ state: 'done', unchanged: 101, left: 0 })
    }, WAIT)
    expect(attempts).toEqual([first, ...others, ...others])
  })

  test('an undo reverses changes of endpoints that were not changed since', async () => {
    const store = await open(engine)
    const { bulk, request } = await setUp(store)
    await ended(bulk, (await bulk.begin(request(puts(4)))).id)
    const before = await readEndpoints(store)
    const changes: EndpointChangeInput[] = [
      { endpoint: at(1000), databases: ['b'] },
      { endpoint: at(1001), databases: ['b'] },
      { endpoint: at(1002), remove: true },
      { endpoint: at(1003), databases: ['a'] },
      { endpoint: at(2000), databases: ['new'] },
    ]
    const { id } = await bulk.begin(request(changes))
    expect(await ended(bulk, id)).toMatchObject({ made: 4, unchanged: 1 })
    // Another user changes one of the endpoints.
    await createEndpointWriter(store, record)({ endpoint: at(1001), databases: ['c'], actor })
    const undo = await bulk.undo(id, request([]))
    expect(undo).toMatchObject({ total: 4, undoOf: id })
    const after = await ended(bulk, undo.id)
    expect(after).toMatchObject({ made: 3, failed: 1 })
    expect(after.failures).toMatchObject([{ endpoint: at(1001), code: 412 }])
    const databasesOf = (list: typeof before) =>
      Object.fromEntries(list.map(({ endpoint, databases }) => [endpoint, databases]))
    expect(databasesOf(await readEndpoints(store))).toEqual({
      ...databasesOf(before),
      [at(1001)]: ['c'],
    })
    expect(await bulk.page(id, -1, 1)).toMatchObject({ undoneBy: undo.id })
    await expect(bulk.undo(id, request([]))).rejects.toMatchObject({ code: 'conflict' })
  })

  test('a bulk change that is running or has changed nothing cannot be undone', async () => {
    const gate = createGate(0)
    const { bulk, request } = await setUp(await open(engine), gate.wait)
    const { id } = await bulk.begin(request([{ endpoint: at(1), remove: true }]))
    await expect(bulk.undo(id, request([]))).rejects.toThrow('has not ended')
    gate.open()
    await ended(bulk, id)
    await expect(bulk.undo(id, request([]))).rejects.toThrow('made no changes')
  })

  test('nothing is removed after a failure if that is requested', async () => {
    const store = await open(engine)
    const { bulk, request } = await setUp(store, async (endpoint) => {
      if (endpoint === at(2000)) throw new Failure('conflict', 'taken')
    })
    await ended(bulk, (await bulk.begin(request(puts(2)))).id)
    const changes: EndpointChangeInput[] = [
      { endpoint: at(2000), databases: [] },
      { endpoint: at(1000), remove: true },
      { endpoint: at(1001), databases: ['b'] },
    ]
    const kept = await bulk.begin(request(changes, { keepOnFailure: true }))
    expect(await ended(bulk, kept.id)).toMatchObject({ state: 'done', made: 1, failed: 1, left: 1 })
    const removed = await bulk.begin(request(changes))
    expect(await ended(bulk, removed.id)).toMatchObject({ made: 1, unchanged: 1, failed: 1 })
  })

  test('a malformed bulk change is rejected before anything is changed', async () => {
    const store = await open(engine)
    const { bulk, request } = await setUp(store)
    const begin = (change: EndpointChangeInput) => bulk.begin(request([...puts(1), change]))
    await expect(begin({ endpoint: 'x', databases: [] })).rejects.toThrow(/^changes\[1\]: /)
    await expect(begin({ endpoint: at(1), databases: ['#'] })).rejects.toMatchObject({
      code: 'bad-database-name',
    })
    await expect(begin({ endpoint: 'TCP://127.0.0.1:1000', remove: true })).rejects.toThrow(
      `The endpoint ${at(1000)} is listed twice.`,
    )
    expect(await readEndpoints(store)).toEqual([])
    expect(await bulk.list()).toEqual([])
  })

  test('limits queued bulk changes, and lists a limited number for a day', async () => {
    const gate = createGate(0)
    let now = 1_000_000
    const { bulk, request } = await setUp(await open(engine), gate.wait, () => now)
    const one = (n: number) => {
      now += 1
      return bulk.begin(request([{ endpoint: at(3000 + n), databases: [] }]))
    }
    for (let n = 0; n < MAX_UNFINISHED_CHANGES; n++) await one(n)
    await expect(one(100)).rejects.toMatchObject({ code: 'too-many-requests' })
    gate.open()
    for (let n = 0; n < MAX_LISTED_CHANGES; n++) {
      const { id } = await vi.waitFor(() => one(200 + n), WAIT)
      await ended(bulk, id)
    }
    const list = await bulk.list()
    expect(list).toHaveLength(MAX_LISTED_CHANGES)
    expect(list.map(({ created }) => created)).toEqual(
      list
        .map(({ created }) => created)
        .toSorted()
        .reverse(),
    )
    now += CHANGE_RETENTION
    expect(await bulk.list()).toEqual([])
  })
})

forEngine('postgres', (engine) => {
  afterEach(stopAll)

  test('another node reads the progress and receives its events', async () => {
    const [one, other] = [await engine.open(), await engine.open()]
    const { bulk, request } = await setUp(one)
    const elsewhere = await setUp(other)
    const heard = vi.fn()
    other.onNotification(heard)
    const { id } = await bulk.begin(request(puts(3)))
    await expect.poll(() => heard).toHaveBeenCalledWith('endpoint-changes')
    expect(await ended(elsewhere.bulk, id)).toMatchObject({ made: 3 })
  })
})

test("the caller's endpoint loses _system last, and removals wait for earlier changes", () => {
  const requestEndpoint = at(1)
  const changes: EndpointChangeInput[] = [
    { endpoint: requestEndpoint, databases: ['blog'] },
    { endpoint: at(2), databases: ['blog'] },
    { endpoint: at(3), remove: true },
    { endpoint: at(4), remove: true },
    { endpoint: at(5), databases: [] },
    { endpoint: at(6), databases: ['blog'] },
  ]
  expect(groupsOf({ changes, requestEndpoint, completed: new Set() })).toEqual([
    [1],
    [2, 3],
    [4],
    [5],
    [0],
  ])
  expect(groupsOf({ changes, requestEndpoint, completed: new Set([2, 4]) })).toEqual([
    [1],
    [3],
    [5],
    [0],
  ])
  const kept: EndpointChangeInput[] = [
    { endpoint: requestEndpoint, databases: ['blog', '_system'] },
  ]
  expect(groupsOf({ changes: kept, requestEndpoint, completed: new Set() })).toEqual([[0]])
})
