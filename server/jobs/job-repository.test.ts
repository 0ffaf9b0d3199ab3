import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import type { Job } from './job.ts'
import { createJobRepository, type JobRepository } from './job-repository.ts'
import { LEASE, LeaseLost } from './lease.ts'

const where = { database: '_system', collection: 'articles' }
const everything = { filter: [] }
const step = { scanned: 1, cursor: 'a', found: 0, result: null }

forEachEngine((engine) => {
  let store: Store
  let now: number
  let jobs: JobRepository
  let other: JobRepository

  beforeEach(async () => {
    store = await engine.open()
    now = 1_700_000_000_000
    jobs = createJobRepository(store, () => now)
    other = createJobRepository(store, () => now)
  })
  /** Returns a job that this node has claimed. */
  const claimed = async (): Promise<Job> => {
    await jobs.create({ where, kind: 'patch', state: 'running', request: everything })
    return (await jobs.claim()) as Job
  }

  it('gives a job to one of several claiming nodes', async () => {
    await jobs.create({ where, kind: 'list', state: 'running', request: everything })
    const taken = await Promise.all([jobs.claim(), other.claim()])
    expect(taken.filter((each) => each !== undefined)).toHaveLength(1)
  })

  it('gives the oldest job, changes before listings', async () => {
    const create = async (kind: 'list' | 'delete') => {
      now++
      return (await jobs.create({ where, kind, state: 'running', request: everything })).id
    }
    const ids = [await create('list'), await create('delete'), await create('delete')]
    now++
    const claimed = []
    for (let n = 0; n < 4; n++) claimed.push((await jobs.claim())?.id)
    expect(claimed).toEqual([ids[1], ids[2], ids[0], undefined])
  })

  it.each<[string, (job: Job) => Promise<unknown>]>([
    [
      'another node has it',
      async () => {
        now += LEASE + 1
        expect(await other.claim()).toBeDefined()
      },
    ],
    ['it was discarded', ({ id }) => other.discard([id])],
    ['it has ended', (job) => jobs.fail(job, new Failure('conflict', 'ended'))],
    ['it is further already', (job) => jobs.advance(job, step)],
  ])('stores neither a step nor an end if %s', async (_why, happen) => {
    const job = await claimed()
    await happen(job)
    const before = await jobs.read(job.id)
    const late = [
      jobs.advance(job, step),
      jobs.stageParts(job, [{ text: '[]', records: 1 }], 0),
      jobs.begin(job),
      jobs.fail(job, new Failure('conflict', 'late')),
      jobs.finish(job),
    ]
    for (const each of await Promise.allSettled(late)) {
      expect(each).toMatchObject({ status: 'rejected', reason: expect.any(LeaseLost) })
    }
    expect(await jobs.read(job.id)).toEqual(before)
    expect(await store.db.selectFrom('job_documents').selectAll().execute()).toEqual([])
  })

  it('renews the lease with each step', async () => {
    const job = await claimed()
    now += LEASE
    const next = await jobs.advance(job, step)
    now += LEASE
    expect(await other.claim()).toBeUndefined()
    now += 1
    expect(await other.claim()).toMatchObject({ id: job.id, done: next.done, cursor: 'a' })
  })

  it('does not read the request of a job in a step, because it may be large', async () => {
    const job = await claimed()
    await store.db.updateTable('jobs').set({ request: 'not read' }).execute()
    const next = await jobs.advance(job, { ...step, found: 1 })
    expect(next).toEqual({ ...job, cursor: 'a', done: 1, found: 1 })
  })

  if (engine.name === 'postgres') {
    it('finds neither due nor obsolete jobs in an idle, read-only database', async () => {
      const found = await store.transaction(async (trx) => {
        await sql`set transaction read only`.execute(trx)
        const db = trx as unknown as Store['db']
        const idle = createJobRepository({ ...store, db }, () => now)
        return [await idle.claim(), await idle.discardStale(), await idle.deleteEnded()]
      })
      expect(found).toEqual([undefined, undefined, false])
    })
  }

  it('is stale, and not claimed, once its node has died with its request', async () => {
    const state = 'preparing'
    const job = await jobs.create({ where, kind: 'import', state, request: everything })
    const stateAfter = async (time: number) => {
      now += time
      await other.discardStale()
      return [await other.claim(), (await jobs.read(job.id))?.state]
    }
    expect(await stateAfter(LEASE)).toEqual([undefined, state])
    expect(await stateAfter(1)).toEqual([undefined, 'discarded'])
  })

  it('is not stale while its own process renews the lease, even if that is late', async () => {
    const job = await jobs.create({
      where,
      kind: 'import',
      state: 'preparing',
      request: everything,
    })
    const [stop, stopOther] = [jobs.keepLease(job), jobs.keepLease(job)]
    stopOther()
    const stateAfterCleanup = async () => {
      await jobs.discardStale()
      return (await jobs.read(job.id))?.state
    }
    now += LEASE + 1
    expect(await stateAfterCleanup()).toBe('preparing')
    stop()
    expect(await stateAfterCleanup()).toBe('discarded')
  })
})
