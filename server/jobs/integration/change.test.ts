import { AsyncLocalStorage } from 'node:async_hooks'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANGE_BYTES, CHANGE_ROWS } from '../../contract/document.ts'
import { SCANS, ScanLimit } from '../../documents/find/scan-limit.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { readStored } from '../../documents/repository/read-stored.testing.ts'
import type { DocumentRef } from '../../storage/document-ref.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Job } from '../job.ts'
import type { Jobs } from '../jobs.ts'
import { createJobsFixture, everything, where } from './jobs-fixture.testing.ts'

forEachEngine((engine) => {
  const fixture = createJobsFixture(engine)
  const { node, ended, stored, countRows, after } = fixture
  const update = async (ref: DocumentRef, body: string) => {
    await fixture.repository.update(ref, await readStored(fixture.repository, ref), body)
  }
  const change = (
    jobs: Jobs,
    kind: 'patch' | 'delete',
    request: Parameters<Jobs['change']>[2],
    signal = new AbortController().signal,
  ) => jobs.change(where, kind, request, 'caller', signal)
  const insert = (count: number, more: object = {}) =>
    fixture.repository.insert(
      where,
      Array.from({ length: count }, (_, n) => {
        const id = `d${10_000 + n}`
        return { id, body: JSON.stringify({ id, author: n % 2 === 0 ? 'ada' : 'bob', ...more }) }
      }),
    )
  const byAda = { filter: [['author', 'ada']] as const }
  const patch = '{"on":true}'

  describe('a change of few documents', () => {
    beforeEach(() => insert(600))

    it('affects the matching documents and gives them new tags, without a job', async () => {
      const jobs = node()
      const before = await fixture.repository.read({ ...where, id: 'd10000' })
      expect(await change(jobs, 'patch', { ...byAda, patch })).toBe(300)
      const all = await stored()
      expect(all.filter(({ on }) => on)).toHaveLength(300)
      expect(all.filter(({ on }) => on).every(({ author }) => author === 'ada')).toBe(true)
      expect((await fixture.repository.read({ ...where, id: 'd10000' }))?.tag).not.toBe(before?.tag)
      expect(await change(jobs, 'delete', byAda)).toBe(300)
      expect((await stored()).every(({ author }) => author === 'bob')).toBe(true)
      expect(await change(jobs, 'delete', everything)).toBe(300)
      expect(await stored()).toEqual([])
      expect(await countRows()).toEqual([0, 0])
    })

    it('has the limits of queries without an index', async () => {
      let time = 0
      const scans = new ScanLimit(SCANS, () => {
        time += SCANS.work + 1
        return time
      })
      const jobs = node(undefined, undefined, undefined, scans)
      await expect(change(jobs, 'delete', byAda)).rejects.toMatchObject({
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
      expect(await change(jobs, 'delete', byAda)).toBe(300)
      expect(await change(jobs, 'delete', everything)).toBe(300)
      await jobs.stop()
    })

    it('affects no other collection and no other database', async () => {
      const others = [
        { ...where, collection: 'b' },
        { ...where, database: 'x' },
      ]
      for (const other of others) {
        await fixture.repository.insert(other, [{ id: 'd10000', body: '{"id":"d10000"}' }])
      }
      // Also with equal tags: every statement must name the database and the collection.
      const same = fixture.store.db.updateTable('documents').set({ tag: 'same' })
      const makeSame = () => same.where('id', '=', 'd10000').execute()
      const jobs = node()
      await makeSame()
      await change(jobs, 'patch', { ...everything, patch })
      await makeSame()
      await change(jobs, 'delete', everything)
      for (const other of others) {
        expect((await fixture.repository.list(other, {}, 9))[0]?.body).toBe('{"id":"d10000"}')
      }
    })

    it('changes none if one of them cannot be changed', async () => {
      const id = 'd10599'
      await update({ ...where, id }, JSON.stringify({ id, text: 'x'.repeat(2 ** 20 - 100) }))
      const large = JSON.stringify({ more: 'y'.repeat(200) })
      await expect(change(node(), 'patch', { ...everything, patch: large })).rejects.toMatchObject({
        code: 'too-large',
      })
      expect((await stored()).filter(({ more }) => more)).toEqual([])
    })

    it('changes none if a unique index rejects one of them', async () => {
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-code', ['code'], true)
      await indexes.build()
      await expect(
        change(node(), 'patch', { ...everything, patch: '{"code":1}' }),
      ).rejects.toMatchObject({ code: 'conflict', details: { index: 'by-code' } })
      expect((await stored()).filter(({ code }) => code)).toEqual([])
      await expectEntriesOfDocuments(fixture.store)
    })

    it.each(['patch', 'delete'] as const)(
      'reads documents again that have changed since the search: %s',
      async (kind) => {
        const write = (id: string, body: object) =>
          update({ ...where, id }, JSON.stringify({ id, ...body }))
        const jobs = node(
          after(1, async () => {
            await write('d10000', { author: 'ada', n: 1 })
            await write('d10002', { author: 'eve', n: 2 })
          }),
        )
        const request = kind === 'patch' ? { ...byAda, patch } : byAda
        expect(await change(jobs, kind, request)).toBe(299)
        const all = await stored()
        const one = all.find(({ id }) => id === 'd10000')
        if (kind === 'delete') expect(one).toBeUndefined()
        else expect(one).toEqual({ id: 'd10000', author: 'ada', n: 1, on: true })
        expect(all.find(({ id }) => id === 'd10002')).toEqual({ id: 'd10002', author: 'eve', n: 2 })
      },
    )

    it('changes nothing once the client has disconnected', async () => {
      const client = new AbortController()
      const jobs = node(async () => client.abort())
      await expect(change(jobs, 'delete', everything, client.signal)).rejects.toMatchObject({
        code: 'busy',
        message: 'The client has disconnected.',
      })
      expect(await stored()).toHaveLength(600)
    })
  })

  describe('a change of more documents than one transaction', () => {
    const reasons = [
      ['bytes', 500, { text: 'x'.repeat(CHANGE_BYTES / 500) }, 0],
      ['documents', CHANGE_ROWS + 1, {}, 0],
      ['entries in indexes', CHANGE_ROWS / 2 + 1, {}, 1],
    ] as const

    // The rows are counted above the engines.
    it.each(engine.name === 'sqlite' ? reasons : reasons.slice(0, 1))(
      'becomes a job because of its %s',
      async (_, count, more, indexCount) => {
        for (let at = 0; at < count; at += 2_000) {
          await fixture.repository.insert(
            where,
            Array.from({ length: Math.min(2_000, count - at) }, (_, n) => {
              const id = `d${10_000 + at + n}`
              return { id, body: JSON.stringify({ id, ...more }) }
            }),
          )
        }
        const indexes = openIndexesOf(fixture.store)
        for (let n = 0; n < indexCount; n++) await indexes.put(where, `i${n}`, ['on'])
        await indexes.build()
        const jobs = node()
        const job = (await change(jobs, 'patch', { ...everything, patch })) as Job
        expect(await ended(jobs, job)).toMatchObject({ state: 'done', found: count, done: count })
        expect((await stored()).every(({ on }) => on)).toBe(true)
        await jobs.stop()
      },
    )
  })

  describe('a job', () => {
    it('makes each step visible, and lets other writers in between', async () => {
      await insert(3_000)
      const outside = AsyncLocalStorage.snapshot()
      const seen = new Set<number>()
      const jobs = node(async () => {
        seen.add(await outside(async () => (await stored()).filter(({ on }) => on).length))
      })
      await ended(jobs, await jobs.begin(where, 'patch', { ...everything, patch }))
      expect([...seen]).toEqual(expect.arrayContaining([1_000, 2_000, 3_000]))
      await jobs.stop()
    })

    it('counts the documents that are rejected, and goes on', async () => {
      await insert(200)
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-code', ['code'], true)
      await indexes.build()
      const id = 'd10001'
      await update({ ...where, id }, JSON.stringify({ id, text: 'x'.repeat(2 ** 20 - 30) }))
      const jobs = node()
      const job = await ended(
        jobs,
        await jobs.begin(where, 'patch', { ...everything, patch: '{"code":"one"}' }),
      )
      expect(job).toMatchObject({ state: 'done', found: 1, result: { failed: 199 } })
      expect(job.result?.errors).toHaveLength(100)
      expect(job.result?.errors.slice(0, 2)).toEqual([
        { id, pointer: '', message: expect.stringContaining('1 MiB') },
        { id: 'd10002', pointer: '/code', message: expect.stringContaining('by-code is unique') },
      ])
      expect((await stored()).filter(({ code }) => code)).toHaveLength(1)
      await expectEntriesOfDocuments(fixture.store)
      await jobs.stop()
    })

    it('reads documents again that others change between its steps', async () => {
      await insert(1_200)
      const outside = AsyncLocalStorage.snapshot()
      let writes = 0
      const jobs = node(() =>
        outside(async () => {
          if (writes === 12) return
          const id = `d${10_100 + 100 * writes++}`
          await update({ ...where, id }, JSON.stringify({ id, author: 'eve' }))
        }),
      )
      const job = await ended(jobs, await jobs.begin(where, 'patch', { ...byAda, patch }))
      expect(job).toMatchObject({ state: 'done', result: { failed: 0 } })
      const all = await stored()
      expect(all.filter(({ author, on }) => author === 'ada' && !on)).toEqual([])
      expect(all.filter(({ author, on }) => author === 'bob' && on)).toEqual([])
      await jobs.stop()
    })

    it('finds documents by an index, and examines no others', async () => {
      await insert(600)
      const indexes = openIndexesOf(fixture.store)
      await indexes.put(where, 'by-author', ['author', 'missing'])
      await indexes.build()
      const jobs = node()
      const job = await ended(jobs, await jobs.begin(where, 'patch', { ...byAda, patch }))
      expect(job).toMatchObject({ state: 'done', failure: null, found: 300, done: 300 })
      const filter = [
        ['id:in', 'd10002,d10001,none,d10003'],
        ['author', 'ada'],
      ] as const
      const listed = await ended(jobs, await jobs.begin(where, 'delete', { filter }))
      expect(listed).toMatchObject({ state: 'done', failure: null, done: 3, found: 1 })
      await jobs.stop()
    })
  })
})
