import { beforeEach, describe, expect, it } from 'vitest'
import { JOB_RETENTION } from '../../contract/job.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Jobs } from '../jobs.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

const COUNT = 3_000
const ada = { name: 'ada', by: 'session', address: null } as const
const patched = { ...everything, patch: JSON.stringify({ on: true }) }

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
        return { id, body: JSON.stringify({ id, n, author: 'ada' }) }
      }),
    )
  const cancel = (jobs: Jobs, { id }: { id: string }) => jobs.cancel('_system', id, ada)
  /** Resolves once a cancelled job is cleaned up. */
  const isCancelled = (count = 1) =>
    expect
      .poll(() => fixture.store.db.selectFrom('jobs').select(['state', 'clean']).execute())
      .toEqual(Array.from({ length: count }, () => ({ state: 'cancelled', clean: 1 })))

  const nodes: [string, (runner: Jobs) => Jobs][] = [['its node', (runner) => runner]]
  if (engine.name === 'postgres') nodes.push(['another node', () => node()])

  describe.each(nodes)('a job that is cancelled at %s', (_, canceller) => {
    it.each(['patch', 'delete'] as const)('keeps what it has done: a %s', async (kind) => {
      await insert()
      await indexes.put(where, 'by-on', ['on'])
      await indexes.build()
      let job: { id: string } | undefined
      let steps = 0
      const jobs: Jobs = node(async () => {
        if (job !== undefined && ++steps === 2) await cancel(canceller(jobs), job)
      })
      job = await jobs.begin(where, kind, kind === 'patch' ? patched : everything)
      await isCancelled()
      const { found } = await jobs.read('_system', job.id)
      expect(found).toBeGreaterThan(0)
      expect(found).toBeLessThan(COUNT)
      const left = (await stored()).filter(({ on }) => !on)
      expect(left).toHaveLength(COUNT - found)
      await expectEntriesOfDocuments(fixture.store)
      await jobs.stop()
      expect(fixture.errors).toEqual([])
    })
  })

  it.each([
    ['the role', { role: 'viewer' }, 'The caller no longer has the editor role.'],
    [
      'access to the database',
      { databases: '["blog"]' },
      'The caller no longer has access to the database.',
    ],
  ])('ends a job whose caller loses %s, and keeps what it has done', async (_, lost, message) => {
    const { db } = fixture.store
    const person = { id: 'p', provider: 'a', issuer: 'a', subject: 'a', username: 'a:a' }
    await db
      .insertInto('people')
      .values({ ...person, role: 'editor', created_at: 1 })
      .execute()
    const token = { id: 't', name: 't', prefix: 't', hash: 't', owner_id: 'p', role: 'operator' }
    await db
      .insertInto('tokens')
      .values({ ...token, created_at: 1 })
      .execute()
    await insert()
    let steps = 0
    const jobs: Jobs = node(async () => {
      if (++steps === 2) await db.updateTable('people').set(lost).execute()
    })
    const { id } = await jobs.begin(where, 'patch', patched, 'token:t')
    await expect.poll(async () => (await jobs.read('_system', id)).state).toBe('failed')
    const { failure, found } = await jobs.read('_system', id)
    expect(failure).toMatchObject({
      code: 'forbidden',
      message,
    })
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThan(COUNT)
    expect((await stored()).filter(({ on }) => on)).toHaveLength(found)
    await jobs.stop()
  })

  it('is not run if it is cancelled before a node has claimed it', async () => {
    await insert()
    const requesting = node()
    await requesting.stop()
    const job = await requesting.begin(where, 'patch', patched)
    expect((await cancel(requesting, job)).state).toBe('cancelled')
    const before = await stored()
    const other = node()
    other.wake()
    await isCancelled()
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
    for (const state of ['preparing', 'discarded']) {
      await fixture.store.db.updateTable('jobs').set({ state }).execute()
      await expect(cancel(jobs, { id })).rejects.toMatchObject(absent)
    }
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
