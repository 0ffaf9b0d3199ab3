import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createRecorder, START } from '../../audit/record.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { SCANS, ScanLimit } from '../../documents/query/scan/scan-limit.ts'
import { readStored } from '../../documents/repository/read-stored.testing.ts'
import { createSchemaChecker } from '../../documents/schemas/schema-checker.ts'
import { type CurrentSchemaOf, createSchemas } from '../../documents/schemas/schemas.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../storage/availability/unavailable.ts'
import type { DocumentRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { MERGE_TIME } from '../apply.ts'
import { createJobsFixture, everything, text, where } from './jobs-fixture.testing.ts'

const on = { record: createRecorder(), actor: START, target: '_system/c' }

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, stored, countRows, after } = fixture
  const update = async (ref: DocumentRef, body: string) => {
    await fixture.repository.update(ref, await readStored(fixture.repository, ref), body)
  }

  describe('changing and deleting', () => {
    beforeEach(() =>
      fixture.repository.insert(where, [
        ...Array.from({ length: 600 }, (_, n) => {
          const id = `d${10_000 + n}`
          return { id, body: JSON.stringify({ id, author: n % 2 === 0 ? 'ada' : 'bob' }) }
        }),
      ]),
    )
    const byAda = { filter: [['author', 'ada']] as const }

    it('affects the matching documents and gives them new tags', async () => {
      const jobs = node()
      const before = await fixture.repository.read({ ...where, id: 'd10000' })
      const patch = JSON.stringify({ on: true, text })
      expect(await jobs.run(where, 'patch', { ...byAda, patch })).toBe(300)
      const all = await stored()
      expect(all.filter(({ on }) => on)).toHaveLength(300)
      expect(all.filter(({ on }) => on).every(({ author }) => author === 'ada')).toBe(true)
      expect((await fixture.repository.read({ ...where, id: 'd10000' }))?.tag).not.toBe(before?.tag)
      expect(await jobs.run(where, 'delete', byAda)).toBe(300)
      expect((await stored()).every(({ author }) => author === 'bob')).toBe(true)
      expect(await jobs.run(where, 'delete', everything)).toBe(300)
      expect(await stored()).toEqual([])
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    it('succeeds although its job cannot be deleted', async () => {
      const { db } = fixture.store
      const updateTable = db.updateTable.bind(db)
      let fails = true
      const failDiscard = (table: 'jobs') => {
        const update = updateTable(table)
        const set = update.set.bind(update)
        return Object.assign(update, {
          set(values: { readonly state?: string }) {
            if (!fails || values.state !== 'discarded') return set(values as object)
            fails = false
            throw new StoreUnavailable()
          },
        })
      }
      vi.spyOn(db, 'updateTable').mockImplementation(failDiscard as typeof db.updateTable)
      const jobs = node()
      expect(await jobs.run(where, 'delete', byAda)).toBe(300)
      expect(await stored()).toHaveLength(300)
      expect(fixture.errors).toMatchObject([{ code: 'unavailable' }])
      await jobs.stop()
    })

    it('succeeds if the database has committed it but not confirmed the commit', async () => {
      const { transaction, db } = fixture.store
      let lost = 0
      Object.assign(fixture.store, {
        async transaction(work, length) {
          const result = await transaction(work, length)
          const done = await db
            .selectFrom('jobs')
            .select('id')
            .where('state', '=', 'done')
            .execute()
          if (done.length === 0 || lost > 0) return result
          lost++
          throw new OutcomeUnknown()
        },
      } satisfies Pick<Store, 'transaction'>)
      const jobs = node()
      expect(await jobs.run(where, 'delete', byAda)).toBe(300)
      expect(lost).toBe(1)
      expect(await stored()).toHaveLength(300)
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
      expect(fixture.errors).toEqual([])
    })

    it('finds documents by an index, and examines no others', async () => {
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-author', ['author', 'missing'])
      await indexes.build()
      let changed = 0
      const jobs = node(async () => {
        // Deletes a document that the index has found, and changes another one, while the job runs.
        if (changed++ !== 1) return
        const one = { ...where, id: 'd10500' }
        await fixture.repository.delete(one, await readStored(fixture.repository, one))
        await update({ ...where, id: 'd10502' }, '{"id":"d10502","author":"bob"}')
      })
      const job = await ended(
        jobs,
        await jobs.begin(where, 'patch', { ...byAda, patch: '{"on":true}' }),
      )
      expect(job).toMatchObject({ state: 'done', failure: null, found: 298 })
      expect(job.done).toBeLessThanOrEqual(300)
      expect((await stored()).filter(({ on }) => on)).toHaveLength(298)
      const range = { filter: [['author:gte', 'b']] as const }
      expect(await jobs.run(where, 'delete', range)).toBe(301)
      expect((await stored()).every(({ author }) => author === 'ada')).toBe(true)
      await jobs.stop()
    })

    it('examines only the documents whose ids the filter lists', async () => {
      const jobs = node()
      const filter = [
        ['id:in', 'd10002,d10001,none,d10003'],
        ['author', 'ada'],
      ] as const
      const job = await ended(jobs, await jobs.begin(where, 'delete', { filter }))
      expect(job).toMatchObject({ state: 'done', failure: null, done: 3, found: 1 })
      const scans = new ScanLimit({ ...SCANS, work: -1 })
      const limited = node(undefined, undefined, undefined, scans)
      expect(await limited.run(where, 'delete', { filter: [['id', 'd10004']] })).toBe(1)
      expect(await limited.run(where, 'delete', { filter: [['id', '\0']] })).toBe(0)
      expect(await stored()).toHaveLength(598)
      await Promise.all([jobs.stop(), limited.stop()])
    })

    it('has the limits of queries without an index', async () => {
      let time = 0
      const scans = new ScanLimit(SCANS, () => {
        time += SCANS.work + 1
        return time
      })
      const jobs = node(undefined, undefined, undefined, scans)
      await expect(jobs.run(where, 'delete', byAda)).rejects.toMatchObject({
        code: 'query-too-expensive',
        message: expect.stringMatching(/Nothing was changed.*respond-async.*An index on author/),
        details: { fields: ['author'] },
      })
      expect(await stored()).toHaveLength(600)
      const job = await ended(jobs, await jobs.begin(where, 'patch', { ...byAda, patch: '{}' }))
      expect(job).toMatchObject({ state: 'done', found: 300 })
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-author', ['author'])
      await indexes.build()
      expect(await jobs.run(where, 'delete', byAda)).toBe(300)
      expect(await jobs.run(where, 'delete', everything)).toBe(300)
      await jobs.stop()
    })

    it('affects no other collection and no other database', async () => {
      for (const other of [
        { ...where, collection: 'b' },
        { ...where, database: 'x' },
      ]) {
        await fixture.repository.insert(other, [{ id: 'd10000', body: '{"id":"d10000"}' }])
      }
      // Also with equal tags: every filter must include the database and the collection.
      const same = fixture.store.db.updateTable('documents').set({ tag: 'same' })
      const makeSame = () => same.where('id', '=', 'd10000').execute()
      const jobs = node()
      await makeSame()
      await jobs.run(where, 'patch', { ...everything, patch: '{"on":true}' })
      await makeSame()
      await jobs.run(where, 'delete', everything)
      for (const other of [
        { ...where, collection: 'b' },
        { ...where, database: 'x' },
      ]) {
        expect((await fixture.repository.list(other, {}, 9))[0]?.body).toBe('{"id":"d10000"}')
      }
      await jobs.stop()
    })

    it('changes none if one of them cannot be changed', async () => {
      const id = 'd10599'
      const large = JSON.stringify({ id, text: 'x'.repeat(2 ** 20 - 100) })
      await update({ ...where, id }, large)
      const jobs = node()
      const patch = JSON.stringify({ more: 'y'.repeat(200) })
      await expect(jobs.run(where, 'patch', { ...everything, patch })).rejects.toMatchObject({
        code: 'too-large',
      })
      expect((await stored()).filter(({ more }) => more)).toEqual([])
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    it.each(['patch', 'delete'] as const)(
      'rechecks documents that have changed since the scan: %s',
      async (kind) => {
        const change = (id: string, body: object) =>
          update({ ...where, id }, JSON.stringify({ id, ...body }))
        const jobs = node(
          after(2, async () => {
            await change('d10000', { author: 'ada', n: 1 })
            await change('d10002', { author: 'eve', n: 2 })
          }),
        )
        const request = kind === 'patch' ? { ...byAda, patch: '{"on":true}' } : byAda
        expect(await jobs.run(where, kind, request)).toBe(299)
        const all = await stored()
        const one = all.find(({ id }) => id === 'd10000')
        if (kind === 'delete') expect(one).toBeUndefined()
        else expect(one).toEqual({ id: 'd10000', author: 'ada', n: 1, on: true })
        expect(all.find(({ id }) => id === 'd10002')).toEqual({ id: 'd10002', author: 'eve', n: 2 })
        await jobs.stop()
      },
    )
  })

  it('validates concurrently changed documents, in many collections at the same time', async () => {
    const checker = createSchemaChecker()
    const schemas = createSchemas(fixture.store, checker)
    const text = '{"properties":{"n":{"type":"number"}}}'
    const patch = async (collection: string) => {
      const there = { database: '_system', collection }
      await schemas.put(there, text, { match: undefined, noneMatch: undefined }, on)
      await fixture.repository.insert(there, [{ id: 'a', body: '{"id":"a","n":1}' }])
      const change = () => update({ ...there, id: 'a' }, '{"id":"a","n":2}')
      const jobs = node(after(1, change), schemas.current)
      await jobs.run(there, 'patch', { ...everything, patch: '{"on":true}' })
      await jobs.stop()
      expect((await fixture.repository.read({ ...there, id: 'a' }))?.body).toBe(
        '{"id":"a","n":2,"on":true}',
      )
    }
    const collections = Array.from({ length: 12 }, (_, at) => `c${at}`)
    // On SQLite, a node assumes that unfinished jobs of another one are those of a dead node.
    if (engine.name === 'sqlite') for (const each of collections) await patch(each)
    else await Promise.all(collections.map(patch))
    await checker.close()
  })

  /** Patches two documents that change concurrently; `validate` is called for each of them. */
  async function patchChanged(validate: () => void): Promise<number> {
    await fixture.repository.insert(where, [
      { id: 'a', body: '{"id":"a","n":1}' },
      { id: 'b', body: '{"id":"b","n":1}' },
    ])
    const change = async () => {
      for (const id of ['a', 'b']) await update({ ...where, id }, `{"id":"${id}","n":2}`)
    }
    const slow: CurrentSchemaOf = async () => ({ tag: null, validate: async () => validate() })
    // On SQLite, the limit applies only to documents that change during the job's last check.
    const jobs = node(after(engine.name === 'sqlite' ? 2 : 1, change), slow)
    try {
      return await jobs.run(where, 'patch', { ...everything, patch: '{"on":true}' })
    } finally {
      await jobs.stop()
    }
  }

  it('fails if validating concurrently changed documents takes too long', async () => {
    const patching = patchChanged(() => {
      fixture.steady += MERGE_TIME - 1_000
      // The limit also holds if the clock is set back.
      fixture.now -= 3_600_000
    })
    await expect(patching).rejects.toThrow(
      'Documents were changed at the same time, and validating them again takes too long.',
    )
    expect(await stored()).toEqual([
      { id: 'a', n: 2 },
      { id: 'b', n: 2 },
    ])
  })

  it('validates concurrently changed documents while the clock is set forward', async () => {
    expect(
      await patchChanged(() => {
        fixture.now += 3_600_000
      }),
    ).toBe(2)
  })
})
