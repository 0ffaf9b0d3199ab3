import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { JOB_RETENTION } from '../../contract/job.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Job, JobRequest } from '../job.ts'
import type { Jobs } from '../jobs.ts'
import { createJobRepository } from '../repository/repository.ts'
import { createJobsFixture, documents, everything, text, where } from './jobs-fixture.testing.ts'

const COUNT = 300
const ada = { name: 'ada', by: 'session', address: null } as const
const patched = { ...everything, patch: JSON.stringify({ on: true, text }) }

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, stored, countRows } = fixture
  let indexes: ReturnType<typeof openIndexesOf>

  beforeEach(() => {
    indexes = openIndexesOf(fixture.store)
  })

  const insert = () =>
    fixture.repository.insert(
      where,
      Array.from({ length: COUNT }, (_, n) => {
        const id = `d${10_000 + n}`
        return { id, body: JSON.stringify({ id, n, author: 'ada', text }) }
      }),
    )
  const cancel = (jobs: Jobs, { id }: { id: string }) => jobs.cancel('_system', id, ada)
  /** Resolves once a cancelled job is cleaned up. */
  const cleaned = () =>
    expect.poll(() => fixture.store.db.selectFrom('jobs').select(['state', 'clean']).execute())
  const isCancelled = (count = 1) =>
    cleaned().toEqual(Array.from({ length: count }, () => ({ state: 'cancelled', clean: 1 })))

  /** Resolves once a request that cancels a job waits for its transaction. */
  async function isWaiting(): Promise<void> {
    const waiting = sql`select 1 from pg_locks where locktype = 'advisory' and granted
      and classid = (hashtext('jobs')::bigint & 4294967295)::oid and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())`
    await expect.poll(async () => (await waiting.execute(fixture.store.db)).rows.length).toBe(1)
  }

  /**
   * Repeats a job that is cancelled at the first step, at the second step, and so on, until it is
   * committed by then. Returns the number of steps.
   *
   * @param canceller returns the node that cancels the job of a node.
   * @param verify checks the state after a cancelled job.
   */
  async function cancelAtEachStep(
    begin: (jobs: Jobs) => Promise<{ id: string }>,
    canceller: (runner: Jobs) => Jobs,
    verify: () => Promise<void>,
  ): Promise<number> {
    const outside = AsyncLocalStorage.snapshot()
    for (let cancelAt = 1; ; cancelAt++) {
      let pauses = 0
      let cancelling: Promise<Job> | undefined
      let begun: { id: string } | undefined
      const jobs = node(async () => {
        // The first pauses belong to the request that begins the job.
        if (begun === undefined || cancelling !== undefined || ++pauses < cancelAt) return
        const job = begun
        await outside(async () => {
          cancelling = cancel(canceller(jobs), job)
          // Within the last transaction of the job, the cancellation waits for it.
          const early = engine.name === 'postgres' ? [isWaiting().catch(() => {})] : []
          await Promise.race([cancelling, ...early])
        })
      })
      const job = await begin(jobs)
      begun = job
      jobs.wake()
      const { state } = await fixture.ended(jobs, job)
      const view = await cancelling
      if (view === undefined || view.state === 'done' || view.state === 'applying') {
        expect(state).toBe('done')
        await jobs.stop()
        return cancelAt
      }
      expect(view.state).toMatch(/^cancel/)
      await isCancelled()
      await verify()
      await jobs.stop()
      expect(fixture.errors).toEqual([])
      await fixture.store.db.deleteFrom('jobs').execute()
    }
  }

  const nodes: [string, (runner: Jobs) => Jobs][] = [['its node', (runner) => runner]]
  if (engine.name === 'postgres') nodes.push(['another node', () => node()])

  describe.each(nodes)('a job that is cancelled at %s', (_, canceller) => {
    it.each([
      ['patch', 'patch', patched, false],
      ['patch of values in a unique index', 'patch', patched, true],
      ['deletion', 'delete', everything, false],
    ] as const)('changes nothing, at any step: a %s', async (_, kind, request, isReserved) => {
      await insert()
      if (isReserved) {
        await indexes.put(where, 'pair', ['on', 'n'], true)
        await indexes.build()
      }
      const before = await stored()
      const begin = (jobs: Jobs) => jobs.begin(where, kind, request)
      const steps = await cancelAtEachStep(begin, canceller, async () => {
        expect(await stored()).toEqual(before)
        await expectEntriesOfDocuments(fixture.store)
      })
      expect(steps).toBeGreaterThan(4)
      const changed = before.map((each) => ({ ...each, on: true }))
      expect(await stored()).toEqual(kind === 'delete' ? [] : changed)
    })

    it('creates nothing, at any step', async () => {
      await indexes.put(where, 'by-n', ['n'], true)
      await indexes.build()
      const array = documents(1_200, { text: text.slice(0, 500) })
      const begin = async (jobs: Jobs) => fixture.created(jobs, array)
      const steps = await cancelAtEachStep(begin, canceller, async () => {
        expect(await stored()).toEqual([])
        await expectEntriesOfDocuments(fixture.store)
      })
      expect(steps).toBeGreaterThan(engine.name === 'sqlite' ? 5 : 1)
      await expect.poll(async () => (await stored()).length).toBe(1_200)
    })
  })

  it('is not run if it is cancelled before a node has claimed it', async () => {
    await insert()
    const requesting = node()
    await requesting.stop()
    const job = await requesting.begin(where, 'patch', patched)
    const array = await fixture.created(requesting, documents(10))
    for (const { id } of [job, array]) {
      expect((await cancel(requesting, { id })).state).toMatch(/^cancel/)
    }
    const before = await stored()
    const other = node()
    await other.restore()
    other.wake()
    await isCancelled(2)
    expect(await stored()).toEqual(before)
    expect((await countRows())[1]).toBe(0)
    await other.stop()
  })

  it('keeps its state if it is cancelled again, or after its end', async () => {
    await insert()
    const jobs = node()
    const done = await fixture.ended(jobs, await jobs.begin(where, 'delete', everything))
    fixture.now += 1_000
    expect(await cancel(jobs, done)).toEqual(await jobs.read('_system', done.id))
    expect((await jobs.read('_system', done.id)).updatedAt).toBe(done.updatedAt)
    await jobs.stop()
    const job = await jobs.begin(where, 'list', everything)
    const first = await cancel(jobs, job)
    fixture.now += 1_000
    expect([first.state, await cancel(jobs, job)]).toEqual(['cancelled', first])
  })

  it('is not found in another database, nor while only its own request knows it', async () => {
    const jobs = node()
    await jobs.stop()
    const { id } = await jobs.begin(where, 'delete', everything)
    const absent = { code: 'not-found' }
    await expect(jobs.cancel('x', id, ada)).rejects.toMatchObject(absent)
    for (const state of ['preparing', 'attached', 'discarded']) {
      await fixture.store.db.updateTable('jobs').set({ state }).execute()
      await expect(cancel(jobs, { id })).rejects.toMatchObject(absent)
    }
  })

  it('stops while an index finds its documents', async () => {
    await insert()
    await indexes.put(where, 'by-author', ['author'])
    await indexes.build()
    let pauses = 0
    let job: { id: string } | undefined
    const jobs = node(async () => {
      pauses++
      if (job !== undefined) await cancel(jobs, job)
    })
    const request: JobRequest = { filter: [['author', 'ada']] }
    const begun = await jobs.begin(where, 'delete', request)
    job = begun
    await isCancelled()
    await jobs.stop()
    expect(pauses).toBeLessThan(4)
    expect(await stored()).toHaveLength(COUNT)
  })

  it('is deleted after a day', async () => {
    const jobs = node()
    await jobs.stop()
    const { id } = await jobs.begin(where, 'list', everything)
    await cancel(jobs, { id })
    fixture.now += JOB_RETENTION
    const later = node()
    later.wake()
    await expect.poll(countRows).toEqual([0, 0])
    await later.stop()
  })
})

forEngine('sqlite', (engine) => {
  const fixture = createJobsFixture(engine)
  const { node, stored } = fixture

  it('releases the values of a cancelled job after a restart', async () => {
    const indexes = openIndexesOf(fixture.store)
    await indexes.put(where, 'by-n', ['n'], true)
    await indexes.build()
    const entries = async () =>
      (await fixture.store.db.selectFrom('index_entries').select('id').execute()).length
    const state = async () =>
      (await fixture.store.db.selectFrom('jobs').select('state').execute())[0]
    let job: { id: string } | undefined
    let cancelled: Job | undefined
    let most = 0
    const first = node(async () => {
      const reserved = await entries()
      most = Math.max(most, reserved)
      if (job === undefined || cancelled !== undefined || reserved === 0) return
      cancelled = await first.cancel('_system', job.id, ada)
      // As if the process ended before it could release them.
      void first.stop()
    })
    job = await fixture.created(first, documents(1_200))
    first.wake()
    await expect.poll(() => cancelled?.state).toBe('cancelling')
    await first.stop()
    expect(await state()).toEqual({ state: 'cancelling' })
    // It stopped after the first of several batches.
    expect(most).toBeLessThan(600)
    const second = node()
    await second.restore()
    second.wake()
    await expect.poll(state).toEqual({ state: 'cancelled' })
    await expectEntriesOfDocuments(fixture.store)
    expect(await stored()).toEqual([])
    await second.stop()
    expect(fixture.errors).toEqual([])
  })
})

forEngine('postgres', (engine) => {
  const fixture = createJobsFixture(engine)
  const { node } = fixture

  it('is completed if the request that would cancel it fails', async () => {
    await fixture.insert(COUNT)
    const outside = AsyncLocalStorage.snapshot()
    const key = (id: string) => sql`hashtext('jobs'), hashtext(${id})`
    const held = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let requesting: Promise<unknown> | undefined
    let attempts = 0
    const repository = createJobRepository(fixture.store, () => fixture.now)
    const jobs = node(async () => {
      const [job] = await outside(() =>
        sql<{ id: string }>`select id from jobs`.execute(fixture.store.db),
      ).then(({ rows }) => rows)
      const unlocked = await outside(() =>
        sql`select id from jobs for update skip locked`.execute(fixture.store.db),
      )
      if (job === undefined || unlocked.rows.length > 0) return
      attempts++
      requesting ??= outside(() =>
        fixture.store.transaction(async (trx) => {
          await sql`select pg_advisory_xact_lock_shared(${key(job.id)})`.execute(trx)
          held.resolve()
          await released.promise
        }),
      )
      await held.promise
      if (attempts === 3) released.resolve()
      if (attempts >= 3) await requesting
    })
    const job = await jobs.begin(where, 'patch', patched)
    expect(await fixture.ended(jobs, job)).toMatchObject({ state: 'done', found: COUNT })
    expect(attempts).toBeGreaterThan(2)
    expect((await repository.read(job.id))?.state).toBe('done')
    await jobs.stop()
    expect(fixture.errors).toEqual([])
  })
})
