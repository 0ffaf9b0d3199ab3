import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_LISTINGS } from '../../contract/job.ts'
import { createTestDocuments } from '../../documents/documents.testing.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Job } from '../job.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

forEngine('sqlite', (engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, countRows, after } = fixture

  describe('listing', () => {
    beforeEach(() =>
      fixture.repository.insert(
        where,
        Array.from({ length: 2_400 }, (_, n) => {
          const id = `d${10_000 + n}`
          return { id, body: JSON.stringify({ id, on: n % 2 === 0 }) }
        }),
      ),
    )

    it.each([
      ['all', everything, 2_400],
      ['matching documents', { filter: [['on', 'true']] as const }, 1_200],
    ])('counts %s and stores its position, but no documents', async (_, request, found) => {
      const kept: unknown[] = []
      const copies = fixture.store.db.selectFrom('job_documents').selectAll()
      const jobs = node(async () => kept.push(...(await copies.execute())))
      const end = await ended(jobs, await jobs.begin(where, 'list', request))
      expect(end).toMatchObject({ state: 'done', done: 2_400, found, cursor: 'd12399' })
      await expect.poll(countRows).toEqual([1, 0])
      expect(kept).toEqual([])
      await jobs.stop()
    })

    it('examines only the documents that an index finds, also after a stop', async () => {
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-on', ['on'])
      await indexes.build()
      const filter = [['on', 'true']] as const
      const jobs = node()
      const end = await ended(jobs, await jobs.begin(where, 'list', { filter }))
      expect(end).toMatchObject({ done: 1_200, found: 1_200, cursor: 'd12398' })
      const results = createTestDocuments({
        repository: fixture.repository,
        now: () => fixture.now,
      })
      const page = await results.readInIdOrder(where, filter, 'd12390', 9, {
        upTo: end.cursor ?? '',
      })
      expect(page.returned).toBe(4)
      await jobs.stop()

      let job: Job | undefined
      const first = node(async () => {
        if (job === undefined) return
        if ((await first.read('_system', job.id)).done > 0) void first.stop()
      })
      job = await first.begin(where, 'list', { filter })
      const { id } = job
      await expect.poll(async () => (await first.read('_system', id)).done).toBeGreaterThan(0)
      await first.stop()
      expect(await first.read('_system', id)).toMatchObject({ state: 'running', done: 1_000 })
      const second = node()
      second.wake()
      // A listing that continues scans the documents after its cursor.
      expect(await ended(second, job)).toMatchObject({ found: 1_200, cursor: 'd12399' })
      await second.stop()
    })

    it('counts only the documents after the id at which it begins, also by an index', async () => {
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-on', ['on'])
      await indexes.build()
      const jobs = node()
      const request = { filter: [['on', 'true']], after: 'd12389' } as const
      const end = await ended(jobs, await jobs.begin(where, 'list', request))
      expect(end).toMatchObject({ done: 5, found: 5, cursor: 'd12398' })
      await jobs.stop()
    })

    it('continues from its cursor after a stop', async () => {
      const first = node(after(2, () => void first.stop()))
      const job = await first.begin(where, 'list', everything)
      await expect.poll(async () => (await first.read('_system', job.id)).done).toBeGreaterThan(0)
      await first.stop()
      const halfway = await first.read('_system', job.id)
      expect([halfway.state, halfway.cursor]).toEqual(['running', `d${9_999 + halfway.done}`])
      const second = node()
      second.wake()
      expect(await ended(second, job)).toMatchObject({
        done: 2_400,
        found: 2_400,
        cursor: 'd12399',
      })
      await second.stop()
    })

    it('deletes the oldest ended listings of the database beyond the limit, also cancelled ones', async () => {
      const jobs = node()
      const oldest = await ended(jobs, await jobs.begin(where, 'list', everything))
      await jobs.stop()
      const { id, ...row } = await fixture.store.db
        .selectFrom('jobs')
        .selectAll()
        .executeTakeFirstOrThrow()
      const more = Array.from({ length: MAX_LISTINGS - 1 }, (_, n) => n)
      for (let at = 0; at < more.length; at += 50) {
        const rows = more.slice(at, at + 50).map((n) => ({
          ...row,
          id: `more${n}`,
          created_at: row.created_at + 1 + n,
        }))
        await fixture.store.db.insertInto('jobs').values(rows).execute()
      }
      fixture.now += MAX_LISTINGS
      await jobs.begin({ ...where, database: 'x' }, 'list', everything)
      await jobs.begin(where, 'list', everything)
      expect((await jobs.read('_system', oldest.id)).state).toBe('done')
      await fixture.store.db.updateTable('jobs').set({ state: 'done' }).execute()
      await fixture.store.db
        .updateTable('jobs')
        .set({ state: 'cancelled' })
        .where('id', '=', oldest.id)
        .execute()
      await jobs.begin(where, 'list', everything)
      await expect(jobs.read('_system', oldest.id)).rejects.toMatchObject({ code: 'not-found' })
      expect((await jobs.read('_system', 'more0')).state).toBe('done')
    })
  })
})
