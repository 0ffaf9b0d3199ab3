import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WorkQueue } from '../concurrency/work-queue.ts'
import { SCANS } from '../documents/query/scan/scan-limit.ts'
import { ScanPace } from '../documents/query/scan/scan-pace.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'

const PATH = '/articles?kind=even'

forEachEngineNode((start) => {
  let node: EngineNode

  beforeAll(async () => {
    node = await start()
    await node.request('POST', '/articles', { id: 'one', kind: 'even' })
  })
  afterAll(() => node.stop())

  /** Creates a token. Returns a function that sends a query without an index with it. */
  async function newCaller(name: string) {
    const { json } = await node.request('POST', '/_api/token', { name, role: 'viewer' })
    const headers = { Authorization: `Bearer ${json.token}` }
    return () => node.request('GET', PATH, undefined, { headers })
  }

  test('each job is that of the caller who requests it', async () => {
    const headers = { Prefer: 'respond-async' }
    const asNdjson = { headers: { ...headers, 'Content-Type': 'application/x-ndjson' } }
    const exported = (await node.request('GET', '/_export')).text
    const statuses = [
      await node.request('GET', '/jobs', undefined, { headers }),
      await node.request('PATCH', '/jobs', { on: true }, { headers }),
      await node.request('DELETE', '/jobs', undefined, { headers }),
      await node.request('DELETE', '/jobs?on=true'),
      await node.request('POST', '/jobs', '{"id":"one"}\n', asNdjson),
      await node.request('POST', '/jobs', [{ id: 'two' }], { headers }),
      await node.request('POST', '/_import?on-conflict=skip', exported, asNdjson),
    ].map(({ status }) => status)
    expect(statuses).toEqual([206, 202, 202, 200, 202, 202, 202])
    const store = await node.openStore()
    const rows = await store.db.selectFrom('jobs').select(['kind', 'created_by']).execute()
    await store.close()
    expect(rows.length).toBeGreaterThanOrEqual(6)
    for (const row of rows) expect(row.created_by).toMatch(/^token:/)
  })

  /**
   * Keeps scans from ending until `release` is called. Records the callers that request one, and
   * those that begin one.
   */
  function holdScans() {
    const requested: string[] = []
    const entered: string[] = []
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { enter } = WorkQueue.prototype
    vi.spyOn(WorkQueue.prototype, 'enter').mockImplementation(function (this: WorkQueue, caller) {
      requested.push(caller.id)
      const entering = enter.call(this, caller)
      if (entering === undefined) entered.push(caller.id)
      return entering?.then(() => void entered.push(caller.id))
    })
    const { run } = ScanPace.prototype
    vi.spyOn(ScanPace.prototype, 'run').mockImplementation(async function (this: ScanPace, step) {
      await released
      return run.call(this, step) as never
    })
    // No request is rejected because it waits too long.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal)
    return { requested, entered, release }
  }

  test('queries of other callers run next while the queue of one caller is full', async () => {
    const [first, second, third] = [
      await newCaller('first'),
      await newCaller('second'),
      await newCaller('third'),
    ]
    const { requested, entered, release } = holdScans()
    try {
      const most = SCANS.ofCaller + SCANS.waiting / 2
      const queries = Array.from({ length: most + 1 }, first)
      const rejected = await Promise.race(queries)
      expect([rejected.status, rejected.headers['retry-after']]).toEqual([503, '1'])
      expect(rejected.json.message).toBe('50 of your queries wait already. Try again.')
      const others = [second()]
      await expect.poll(() => entered.length).toBe(SCANS.running)
      others.push(third())
      await expect.poll(() => new Set(requested).size).toBe(3)
      release()
      const statuses = (await Promise.all([...queries, ...others])).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(most + others.length)
      // The others enter in turn with the first caller, whose first queries run.
      const [a, , b] = entered
      expect(entered.slice(0, 2)).toEqual([a, a])
      expect(b).not.toBe(a)
      expect(new Set(entered.slice(0, 5)).size).toBe(3)
    } finally {
      release()
      vi.restoreAllMocks()
    }
  })
})
