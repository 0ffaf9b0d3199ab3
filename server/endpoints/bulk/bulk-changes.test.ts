import { expect, onTestFinished, test, vi } from 'vitest'
import { ensureOperator } from '../../access/people.ts'
import { createRecorder } from '../../audit/record.ts'
import { verifyChain } from '../../audit/verify.ts'
import type {
  EndpointChangeInput,
  EndpointChangeOutcome,
} from '../../contract/endpoints/endpoint-change.ts'
import { Failure } from '../../failure.ts'
import { StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { Caller } from '../../storage/changes/begin-change.ts'
import type { Store } from '../../storage/store.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { freePorts } from '../listeners/free-ports.testing.ts'
import { createEndpointWriter, deleteEndpoint } from '../registry/endpoint-writer.ts'
import { createLoneRegistry } from '../registry/reconciler/lone-node.testing.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import { readEndpoints } from '../registry/repository.ts'
import { type BulkChange, type BulkRequest, createBulkChanges, groupsOf } from './bulk-changes.ts'

const record = createRecorder()
const at = (port: number) => `tcp://127.0.0.1:${port}`
const puts = (count: number, databases = ['a']): EndpointChangeInput[] =>
  Array.from({ length: count }, (_, n) => ({ endpoint: at(1000 + n), databases }))

/**
 * Creates bulk changes that store endpoints without opening them. `before` is awaited before each
 * change.
 */
async function setUp(
  store: Store,
  before: (endpoint: string) => Promise<unknown> = async () => {},
  endpoints?: Pick<EndpointRegistry, 'add' | 'remove'>,
) {
  const write = createEndpointWriter(store, record)
  const begin = createBulkChanges({
    store,
    record,
    endpoints: endpoints ?? {
      async add({ endpoint, databases }, by, expected) {
        await before(endpoint)
        return (await write({ endpoint, databases, actor: by, expected })).isChanged
      },
      async remove(endpoint, by, expected) {
        await before(endpoint)
        const { isChanged } = await write({ endpoint, databases: null, actor: by, expected })
        if (!isChanged) throw new Failure('endpoint-not-found', 'endpoint not found')
      },
    },
    policies: {
      restore: async () => ({ isChanged: false, undo: async () => {} }),
    },
    publish: () => {},
    onError: (error) => {
      throw error
    },
  })
  const personId = await ensureOperator(store, 0)
  const session = { hash: 'x', id: 'x', created_at: 0, last_seen_at: 0, expires_at: 1 }
  await store.db
    .insertInto('sessions')
    .values({ ...session, person_id: personId })
    .execute()
  const authorization = { by: 'session', credential: 'x', role: 'admin' } as const
  const actor: Caller = { name: 'github:1', by: 'session', address: '192.0.2.7', authorization }
  const beginWith = (changes: BulkRequest['changes'], keepOnFailure = false) =>
    begin({ actor, requestEndpoint: at(1), changes, keepOnFailure })
  return {
    begin: beginWith,
    actor,
    make: async (...parameters: Parameters<typeof beginWith>) =>
      endOf(await beginWith(...parameters)),
    undo: async (id: string) => endOf(await beginWith(id)),
  }
}

/** Reads a bulk change to its end. */
async function endOf({ id, outcomes }: BulkChange) {
  const all: EndpointChangeOutcome[] = []
  for await (const some of outcomes) all.push(...some)
  return { id, outcomes: all, states: all.map(({ state }) => state) }
}

const count = (states: readonly string[], state: string) =>
  states.filter((each) => each === state).length

forEngine('sqlite', (engine) => {
  test('a removal is unchanged if another process has just removed the endpoint', async () => {
    const store = await engine.open()
    const registry = createLoneRegistry(store, false)
    onTestFinished(() => registry.stop(0))
    const [port = 0] = await freePorts(1)
    const { make, actor } = await setUp(store, undefined, registry)
    await registry.add({ endpoint: at(port), databases: ['a'] }, actor)
    await deleteEndpoint(store, at(port), { actor, record })
    const { outcomes } = await make([{ endpoint: at(port), remove: true }])
    expect(outcomes).toEqual([{ at: 0, endpoint: at(port), state: 'unchanged' }])
  })

  test('each change has its own outcome and its own row in the audit log', async () => {
    const store = await engine.open()
    const { make } = await setUp(store, async (endpoint) => {
      if (endpoint === at(1007)) throw new Failure('conflict', 'The port is taken.')
    })
    const first = await make(puts(100))
    expect(first.outcomes.map((outcome) => outcome.at)).toEqual(puts(100).map((_, n) => n))
    expect(count(first.states, 'made')).toBe(99)
    expect(first.outcomes[7]).toEqual({
      at: 7,
      endpoint: at(1007),
      state: 'failed',
      error: true,
      code: 409,
      errorNum: 1200,
      errorMessage: 'The port is taken.',
    })
    const [{ revision } = { revision: 0 }] = await readEndpoints(store)
    const { id, outcomes } = await make([
      { endpoint: at(1000), databases: ['a'] },
      { endpoint: at(1001), databases: ['b'], expect: revision + 1_000 },
      { endpoint: at(1002), databases: ['b'], expect: null },
      { endpoint: at(1003), remove: true },
      { endpoint: at(1004), databases: ['b'] },
      { endpoint: at(5000), remove: true },
    ])
    expect(outcomes.map((each) => ('code' in each ? each.code : each.state))).toEqual([
      'unchanged',
      412,
      412,
      'made',
      'made',
      'unchanged',
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

  test('a node makes one bulk change at a time, while its outcomes are read', async () => {
    const store = await engine.open()
    const { begin, make } = await setUp(store)
    const { outcomes } = await begin(puts(200))
    await expect(make(puts(1))).rejects.toMatchObject({ code: 'too-many-requests' })
    // Nothing is made before it is read.
    expect(await outcomes.next()).toEqual({ done: false, value: [] })
    expect(await readEndpoints(store)).toEqual([])
    const { value } = await outcomes.next()
    await outcomes.return()
    const stored = (await readEndpoints(store)).length
    expect(stored).toBeGreaterThanOrEqual(value?.length ?? 0)
    expect(stored).toBeLessThan(100)
    expect((await make(puts(1))).states).toEqual(['unchanged'])
  })

  test('a change is rejected once its caller has lost access', async () => {
    const store = await engine.open()
    const revoked = vi.fn(() => store.db.deleteFrom('sessions').execute())
    const { make } = await setUp(store, async (endpoint) => {
      if (endpoint === at(1040)) await revoked()
    })
    const { outcomes } = await make(puts(200))
    expect(revoked).toHaveBeenCalledOnce()
    expect(outcomes.at(-1)).toMatchObject({ at: 199, state: 'failed', code: 401 })
    await expect(make(puts(1))).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('a bulk change ends if the database is unavailable', async () => {
    const store = await engine.open()
    const { make } = await setUp(store, async (endpoint) => {
      if (endpoint >= at(1010)) throw new StoreUnavailable()
    })
    const { states } = await make(puts(200))
    expect(count(states, 'made')).toBe(10)
    expect(states.length).toBeLessThan(100)
    expect((await make(puts(10))).states).toEqual(puts(10).map(() => 'unchanged'))
  })

  test('an undo reverses changes of endpoints that were not changed since', async () => {
    const store = await engine.open()
    const { make, undo, actor } = await setUp(store)
    await make(puts(5))
    const before = await readEndpoints(store)
    const { id, states } = await make([
      { endpoint: at(1000), databases: ['b'] },
      { endpoint: at(1001), databases: ['b'] },
      { endpoint: at(1002), remove: true },
      { endpoint: at(1003), databases: ['a'] },
      { endpoint: at(1004), databases: ['b'] },
      { endpoint: at(2000), databases: ['new'] },
    ])
    expect(count(states, 'made')).toBe(5)
    // Another user changes one of the endpoints, and changes another one and changes it back.
    const write = createEndpointWriter(store, record)
    await write({ endpoint: at(1001), databases: ['c'], actor })
    await write({ endpoint: at(1004), databases: ['c'], actor })
    await write({ endpoint: at(1004), databases: ['b'], actor })
    const undone = await undo(id)
    const codes = undone.outcomes.map((each) => [
      each.endpoint,
      'code' in each ? each.code : each.state,
    ])
    expect(codes).toEqual([
      [at(2000), 'made'],
      [at(1004), 412],
      [at(1002), 'made'],
      [at(1001), 412],
      [at(1000), 'made'],
    ])
    const databasesOf = (list: typeof before) =>
      Object.fromEntries(list.map(({ endpoint, databases }) => [endpoint, databases]))
    expect(databasesOf(await readEndpoints(store))).toEqual({
      ...databasesOf(before),
      [at(1001)]: ['c'],
      [at(1004)]: ['b'],
    })
    // An interrupted undo can be repeated.
    const repeated = await undo(id)
    expect(count(repeated.states, 'unchanged')).toBe(3)
    expect(count(repeated.states, 'failed')).toBe(2)
    // An undo is a bulk change, too.
    expect((await undo(undone.id)).states).toEqual(['made', 'made', 'made'])
  })

  test('an undo reads many audit rows', async () => {
    const store = await engine.open()
    const { make, undo } = await setUp(store)
    const { id } = await make(puts(600))
    expect(count((await undo(id)).states, 'made')).toBe(600)
    expect(await readEndpoints(store)).toEqual([])
  })

  test('a bulk change that does not exist or has changed nothing cannot be undone', async () => {
    const { make, undo } = await setUp(await engine.open())
    const { id } = await make([{ endpoint: at(1), remove: true }])
    await expect(undo(id)).rejects.toMatchObject({ code: 'not-found' })
    await expect(undo('x')).rejects.toMatchObject({ code: 'not-found' })
  })

  test('nothing is removed after a failure if that is requested', async () => {
    const store = await engine.open()
    const { make } = await setUp(store, async (endpoint) => {
      if (endpoint === at(2000)) throw new Failure('conflict', 'taken')
    })
    await make(puts(2))
    const changes: EndpointChangeInput[] = [
      { endpoint: at(2000), databases: [] },
      { endpoint: at(1000), remove: true },
      { endpoint: at(1001), databases: ['b'] },
    ]
    expect((await make(changes, true)).states).toEqual(['failed', 'made'])
    expect((await make(changes)).states).toEqual(['failed', 'made', 'unchanged'])
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
  expect(groupsOf(changes, requestEndpoint)).toEqual([[1], [2, 3], [4], [5], [0]])
  const kept: EndpointChangeInput[] = [
    { endpoint: requestEndpoint, databases: ['blog', '_system'] },
  ]
  expect(groupsOf(kept, requestEndpoint)).toEqual([[0]])
})
