import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { createTestRules } from '../../documents/document-rules.testing.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../storage/availability/unavailable.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createArrays } from '../create-arrays.ts'
import { createJobRepository } from '../repository/repository.ts'
import { createJobsFixture, documents, text, where } from './jobs-fixture.testing.ts'

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, create, created, stored, countRows } = fixture

  describe('creating', () => {
    it('makes all documents visible together, and leaves no other rows', async () => {
      const seen = new Set<number>()
      const outside = AsyncLocalStorage.snapshot()
      const jobs = node(async () => seen.add((await outside(stored)).length))
      const count = 1_200
      const job = await created(jobs, documents(count, { text }))
      expect(job.total).toBe(count)
      const end = await ended(jobs, job)
      expect(end).toMatchObject({ state: 'done', done: count, found: count, failure: null })
      expect(await stored()).toEqual(JSON.parse(documents(count, { text })))
      await expect.poll(countRows).toEqual([1, 0])
      expect([...seen].filter((visible) => visible !== 0 && visible !== count)).toEqual([])
      await jobs.stop()
    })

    it('fails if an id exists, and creates nothing', async () => {
      await fixture.repository.insert(where, [{ id: 'd10700', body: '{"id":"d10700"}' }])
      const jobs = node()
      const end = await ended(jobs, await created(jobs, documents(1_000, { text })))
      expect(end).toMatchObject({
        state: 'failed',
        failure: { code: 'conflict', message: 'A document with the id "d10700" already exists.' },
      })
      expect(await stored()).toEqual([{ id: 'd10700' }])
      await expect.poll(countRows).toEqual([1, 0])
      await jobs.stop()
    })

    it('names the element of an array that conflicts with a stored document', async () => {
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-mail', ['mail'], true)
      await indexes.build()
      const stored = [
        { id: 'd10700', mail: 'x' },
        { id: 'ann', mail: 'y' },
      ]
      for (const each of stored) {
        await fixture.repository.insert(where, [{ id: each.id, body: JSON.stringify(each) }])
      }
      const jobs = node()
      const taken = create(jobs, documents(1_100, { text }), { respondAsync: false })
      await expect(taken).rejects.toMatchObject({ code: 'conflict', details: { field: '/700/id' } })
      const array = JSON.parse(documents(1_100, { text })).toSpliced(700, 1, { mail: 'y' })
      await expect(
        create(jobs, JSON.stringify(array), { respondAsync: false }),
      ).rejects.toMatchObject({
        code: 'conflict',
        details: { field: '/700/mail', index: 'by-mail', document: 'ann' },
      })
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    it.each([
      ['conflict', '[{"id":"a"},{"id":"a"}]'],
      ['invalid', '[{"id":"a"},7]'],
      ['invalid', '[{"a":1,"a":2}]'],
      ['bad-json', '[{"id":"a"},]'],
      ['bad-json', '[{"id":"a"}'],
    ])('is rejected as %s before it starts: %s', async (code, text) => {
      const jobs = node()
      await expect(create(jobs, text)).rejects.toMatchObject({ code })
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    it('stores parts as they arrive, and keeps them while the next one is late', async () => {
      let later = fixture.now
      const [jobs, other] = [node(), node(undefined, undefined, () => later)]
      // On SQLite, a starting node releases the jobs of others.
      other.wake()
      let halfway: number[] = []
      async function* parts() {
        yield [{ id: 'a', body: '{"id":"a"}' }]
        for (let n = 0; n < 3; n++) await fixture.passLease()
        later = fixture.now
        other.wake()
        await other.stop()
        halfway = await countRows()
        yield [{ id: 'b', body: '{"id":"b"}' }]
      }
      const created = await jobs.create(where, parts(), false)
      expect(created).toMatchObject({ documents: [{ id: 'a' }, { id: 'b' }], bytes: 20 })
      expect([halfway, await stored()]).toEqual([
        [1, 1],
        [{ id: 'a' }, { id: 'b' }],
      ])
      if ('documents' in created) created.release()
      await expect.poll(() => countRows()).toEqual([0, 0])
      await jobs.stop()
    })

    it('lets other requests run between the statements that read the bodies of the response', async () => {
      let pauses = 0
      const jobs = node(async () => {
        pauses++
      })
      const array = documents(1_200, { text })
      const result = await create(jobs, array, { respondAsync: false })
      if (!('bodies' in result)) throw new Error('a job')
      pauses = 0
      const read = []
      for await (const body of result.bodies) read.push(JSON.parse(body))
      expect(read).toEqual(JSON.parse(array))
      // At most 256 KiB are read at once.
      expect(pauses).toBeGreaterThanOrEqual(Math.floor(array.length / 256 / 1024))
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    it('reports an unknown outcome although the job cannot be deleted', async () => {
      const createArray = createArrays({
        repository: createJobRepository(fixture.store, () => fixture.now),
        rules: createTestRules(() => fixture.now),
        commit: () => Promise.reject(new OutcomeUnknown()),
        discard: () => Promise.reject(new StoreUnavailable()),
        pause: async () => {},
        wake() {},
      })
      async function* parts() {
        yield [{ id: 'a', body: '{"id":"a"}' }]
      }
      const creating = createArray(where, parts(), false)
      await expect(creating).rejects.toMatchObject({ details: { ids: ['a'] } })
    })

    it('deletes the stored parts of a rejected array', async () => {
      const jobs = node()
      const text = documents(600).replace(/]$/, ',7]')
      await expect(create(jobs, text)).rejects.toMatchObject({ code: 'invalid' })
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })
  })
})
