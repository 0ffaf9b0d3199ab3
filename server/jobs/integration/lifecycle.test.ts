import { expect, it } from 'vitest'
import { JOB_RETENTION, MAX_UNFINISHED_JOBS } from '../../contract/job.ts'
import { Failure } from '../../failure.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { LEASE } from '../lease.ts'
import { createJobsFixture, documents, everything, where } from './jobs-fixture.testing.ts'

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, create, insert, created, stored, countRows, after } = fixture

  it('continues where another node has stopped, without repetition', async () => {
    const { promise: halted, resolve: halt } = Promise.withResolvers<void>()
    const first = node(
      after(2, () => {
        void first.stop()
        halt()
      }),
    )
    await insert(2_500)
    const job = await first.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
    await halted
    await first.stop()
    const halfway = await first.read('_system', job.id)
    expect(halfway.state).toBe('running')
    expect(halfway.done).toBeGreaterThan(0)
    expect(halfway.done).toBeLessThan(2_500)
    const second = node()
    second.wake()
    expect(await ended(second, job)).toMatchObject({ state: 'done', done: 2_500, found: 2_500 })
    expect((await stored()).filter(({ on }) => on)).toHaveLength(2_500)
    await second.stop()
  })

  it('does not claim a job before its lease expires', async () => {
    const holder = node()
    await holder.stop()
    const { id } = await holder.begin(where, 'delete', everything)
    const claim = { claimed_by: 'another', claimed_until: fixture.now + LEASE }
    const other = node()
    other.wake()
    await ended(other, { id })
    await fixture.store.db
      .updateTable('jobs')
      .set({ state: 'running', ...claim })
      .execute()
    // It would have claimed the older job before it finished a younger one.
    await ended(other, await created(other, documents(1_000)))
    expect((await other.read('_system', id)).state).toBe('running')
    await other.stop()
    fixture.now += LEASE + 1
    const third = node()
    third.wake()
    expect((await ended(third, { id })).state).toBe('done')
    await third.stop()
  })

  it('continues once the database is available again', async () => {
    await fixture.repository.insert(where, [{ id: 'a', body: '{"id":"a"}' }])
    let away = true
    const jobs = node(undefined, async () => {
      if (away) throw new Failure('unavailable', 'away')
      return { tag: null }
    })
    const job = await jobs.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
    await expect.poll(() => fixture.errors).toHaveLength(1)
    expect((await jobs.read('_system', job.id)).state).toBe('running')
    away = false
    jobs.wake()
    expect(await ended(jobs, job)).toMatchObject({ state: 'done', found: 1, failure: null })
    await jobs.stop()
  })

  it('stops working on a job that another node has taken over', async () => {
    let taken = false
    const jobs = node(async () => {
      if (taken) return
      const { numUpdatedRows } = await fixture.store.db
        .updateTable('jobs')
        .set({ claimed_by: 'another', claimed_until: fixture.now + LEASE })
        .where('kind', '=', 'patch')
        .where('done', '>', 0)
        .executeTakeFirst()
      taken = numUpdatedRows > 0n
    })
    await insert(2_500)
    const job = await jobs.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
    await expect.poll(() => taken).toBe(true)
    // By the time that a later job of the same size is done, this one would have been done too.
    const next = await ended(jobs, await jobs.begin(where, 'delete', everything))
    expect(next.state).toBe('done')
    const { state, done } = await jobs.read('_system', job.id)
    expect([state, done < 2_500]).toEqual(['running', true])
    await jobs.stop()
    expect(fixture.errors).toEqual([])
  })

  it('belongs to its database and is deleted with it', async () => {
    await fixture.store.db
      .insertInto('databases')
      .values({ name: 'b', id: 'b1', created_at: 1 })
      .execute()
    const jobs = node()
    const list = await jobs.begin({ ...where, database: 'b1' }, 'list', everything)
    await expect.poll(async () => (await jobs.read('b1', list.id)).state).toBe('done')
    await expect(jobs.read('_system', list.id)).rejects.toMatchObject({ code: 'not-found' })
    await fixture.store.db.deleteFrom('databases').execute()
    jobs.wake()
    await expect.poll(countRows).toEqual([0, 0])
    await jobs.stop()
  })

  it('stores nothing for a database dropped before the job begins', async () => {
    await fixture.store.db
      .insertInto('databases')
      .values({ name: 'b', id: 'b1', created_at: 1 })
      .execute()
    // With the last part of the array.
    const jobs = node(after(1, () => fixture.store.db.deleteFrom('databases').execute()))
    const creating = create(jobs, documents(1_000), { target: { ...where, database: 'b1' } })
    await expect(creating).rejects.toMatchObject({ code: 'database-not-found' })
    const poll = () => {
      jobs.wake()
      return countRows()
    }
    await expect.poll(poll).toEqual([0, 0])
    expect(await fixture.repository.databases()).toEqual([])
    await jobs.stop()
  })

  it('is kept for a day after its end', async () => {
    const jobs = node()
    const job = await ended(jobs, await jobs.begin(where, 'delete', everything))
    fixture.now += JOB_RETENTION - 1
    jobs.wake()
    expect((await jobs.read('_system', job.id)).state).toBe('done')
    fixture.now += 1
    const later = node()
    later.wake()
    await expect.poll(countRows).toEqual([0, 0])
    await jobs.stop()
    await later.stop()
  })

  it('is rejected if simultaneous requests begin too many', async () => {
    const jobs = node()
    await jobs.stop()
    const begin = () => jobs.begin(where, 'delete', everything)
    for (let n = 2; n < MAX_UNFINISHED_JOBS; n++) await begin()
    const begun = await Promise.allSettled(Array.from({ length: 8 }, begin))
    const rejected = begun.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
    expect(rejected).toEqual(Array.from({ length: 6 }, () => 'too-many-requests'))
  })

  it('is rejected if too many jobs of the database are unfinished', async () => {
    const jobs = node()
    await jobs.stop()
    const refused = { code: 'too-many-requests' }
    for (let n = 0; n < MAX_UNFINISHED_JOBS; n++) await jobs.begin(where, 'list', everything)
    await expect(jobs.begin(where, 'list', everything)).rejects.toMatchObject(refused)
    // Listings do not prevent changes.
    for (let n = 0; n < MAX_UNFINISHED_JOBS; n++) await jobs.begin(where, 'delete', everything)
    for (const state of ['preparing', 'running']) {
      await fixture.store.db.updateTable('jobs').set({ state }).execute()
      await expect(jobs.begin(where, 'delete', everything)).rejects.toMatchObject(refused)
    }
    await expect(create(jobs, '[]')).rejects.toMatchObject(refused)
    await expect(jobs.begin({ ...where, database: 'x' }, 'list', everything)).resolves.toBeDefined()
  })
})
