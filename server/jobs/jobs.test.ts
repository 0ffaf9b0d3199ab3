import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { JOB_RETENTION, MAX_LISTINGS, MAX_UNFINISHED_JOBS } from '../contract/job.ts'
import { createCollectionSearch } from '../documents/collections/collection-search.ts'
import { createDocumentRules } from '../documents/document-rules.ts'
import { createDocuments } from '../documents/documents.ts'
import { openIndexesOf } from '../documents/indexes/build/build-indexes.testing.ts'
import { createBodyOf } from '../documents/json/create-body.ts'
import { SCANS, ScanLimit } from '../documents/query/scan-limit.ts'
import { createDocumentRepository } from '../documents/repository/repository.ts'
import type { DocumentRepository } from '../documents/repository/stored-documents.ts'
import { createSchemaChecker } from '../documents/schemas/schema-checker.ts'
import { type CurrentSchemaOf, createSchemas, type Schemas } from '../documents/schemas/schemas.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { storeDatabases } from '../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { MERGE_TIME } from './apply.ts'
import type { Job } from './job.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { LEASE } from './repository.ts'

const where = { database: '_system', collection: 'articles' }
const everything = { filter: [] }
/**
 * Long enough that the last change of a job with some hundred documents takes several statements.
 */
const text = 'x'.repeat(2_000)
const documents = (count: number, more: object = {}) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ id: `d${10_000 + n}`, n, ...more })))

forEachEngine((engine) => {
  let store: Store
  let repository: DocumentRepository
  let now: number
  let errors: unknown[]

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'x')
    repository = createDocumentRepository(store)
    now = 1_700_000_000_000
    errors = []
  })

  /** Returns jobs that behave like another process on the same store. */
  const node = (
    pause: () => Promise<unknown> = async () => {},
    schemaOf?: CurrentSchemaOf,
    clock = () => now,
    scans = new ScanLimit(),
  ): Jobs =>
    createJobs({
      search: createCollectionSearch(store, scans, pause),
      store,
      rules: createDocumentRules(clock, schemaOf),
      now: clock,
      pause,
      onError: (error) => errors.push(error),
    })
  const ended = async (jobs: Jobs, { id }: { id: string }): Promise<Job> => {
    await expect
      .poll(async () => (await jobs.read('_system', id)).state, { timeout: 20_000, interval: 5 })
      .toMatch(/^(done|failed)$/)
    return jobs.read('_system', id)
  }
  const create = (jobs: Jobs, text: string, { later = true, target = where } = {}) => {
    const body = createBodyOf(Buffer.from(text))
    if (!('parts' in body)) throw new Error('no array')
    const documents = createDocuments(repository, () => now, undefined, jobs)
    return documents.createMany(target, body.parts, later)
  }
  /** Stores `count` documents without a job. */
  const insert = (count: number) => {
    const all: { id: string }[] = JSON.parse(documents(count))
    return repository.insert(
      where,
      all.map((each) => ({ id: each.id, body: JSON.stringify(each) })),
    )
  }
  const created = async (jobs: Jobs, text: string): Promise<Job> => {
    const result = await create(jobs, text)
    if (!('job' in result)) throw new Error('no job')
    return jobs.read('_system', result.job)
  }
  const stored = async () => {
    const rows = []
    for (;;) {
      const page = await repository.list(where, rows.at(-1)?.id, 1_000)
      rows.push(...page)
      if (page.length < 1_000) return rows.map(({ body }) => JSON.parse(body))
    }
  }
  const countRows = async () => {
    const count = async (table: 'jobs' | 'job_documents') => {
      const query = store.db.selectFrom(table).select(({ fn }) => fn.countAll().as('rows'))
      return Number((await query.executeTakeFirstOrThrow()).rows)
    }
    return [await count('jobs'), await count('job_documents')]
  }
  /** Returns a pause that calls `act` the given time. */
  const after = (times: number, act: () => unknown) => async () => {
    if (--times === 0) await act()
  }

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
      await repository.insert(where, [{ id: 'd10700', body: '{"id":"d10700"}' }])
      const jobs = node()
      const end = await ended(jobs, await created(jobs, documents(1_000, { text })))
      expect(end).toMatchObject({
        state: 'failed',
        failure: { code: 'conflict', message: 'A document with the id "d10700" exists already.' },
      })
      expect(await stored()).toEqual([{ id: 'd10700' }])
      await expect.poll(countRows).toEqual([1, 0])
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
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
      try {
        let later = now
        const [jobs, other] = [node(), node(undefined, undefined, () => later)]
        // On SQLite, a starting node releases the jobs of others.
        other.wake()
        let halfway: number[] = []
        async function* parts() {
          yield [{ id: 'a', body: '{"id":"a"}' }]
          for (let n = 0; n < 3; n++) {
            now += LEASE - 1
            vi.advanceTimersByTime(LEASE)
            const renewed = now + LEASE
            await expect
              .poll(() => store.db.selectFrom('jobs').select('claimed_until').execute())
              .toEqual([{ claimed_until: renewed }])
          }
          later = now
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
        await vi.waitFor(async () => expect(await countRows()).toEqual([0, 0]))
        await jobs.stop()
      } finally {
        vi.useRealTimers()
      }
    })

    it('deletes the stored parts of a rejected array', async () => {
      const jobs = node()
      const text = documents(600).replace(/]$/, ',7]')
      await expect(create(jobs, text)).rejects.toMatchObject({ code: 'invalid' })
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })
  })

  describe('changing and deleting', () => {
    beforeEach(() =>
      repository.insert(where, [
        ...Array.from({ length: 600 }, (_, n) => {
          const id = `d${10_000 + n}`
          return { id, body: JSON.stringify({ id, author: n % 2 === 0 ? 'ada' : 'bob' }) }
        }),
      ]),
    )
    const byAda = { filter: [['author', 'ada']] as const }

    it('affects the matching documents and gives them new tags', async () => {
      const jobs = node()
      const before = await repository.read({ ...where, id: 'd10000' })
      const patch = JSON.stringify({ on: true, text })
      expect(await jobs.run(where, 'patch', { ...byAda, patch })).toBe(300)
      const all = await stored()
      expect(all.filter(({ on }) => on)).toHaveLength(300)
      expect(all.filter(({ on }) => on).every(({ author }) => author === 'ada')).toBe(true)
      expect((await repository.read({ ...where, id: 'd10000' }))?.tag).not.toBe(before?.tag)
      expect(await jobs.run(where, 'delete', byAda)).toBe(300)
      expect((await stored()).every(({ author }) => author === 'bob')).toBe(true)
      expect(await jobs.run(where, 'delete', everything)).toBe(300)
      expect(await stored()).toEqual([])
      await expect.poll(countRows).toEqual([0, 0])
      await jobs.stop()
    })

    it('finds documents by an index, and examines no others', async () => {
      const indexes = openIndexesOf(store)
      await indexes.put(where, 'by-author', ['author', 'missing'])
      await indexes.build()
      let changed = 0
      const jobs = node(async () => {
        // Deletes a document that the index has found, and changes another one, while the job runs.
        if (changed++ !== 1) return
        const [one, other] = await Promise.all(
          ['d10500', 'd10502'].map((id) => repository.read({ ...where, id })),
        )
        await repository.delete({ ...where, id: 'd10500' }, one?.tag ?? '')
        const body = '{"id":"d10502","author":"bob"}'
        await repository.update({ ...where, id: 'd10502' }, other?.tag ?? '', body)
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

    it('changes nothing once the client has disconnected', async () => {
      const client = new AbortController()
      let pauses = 0
      const jobs = node(async () => {
        if (++pauses === 1) client.abort()
      })
      const { signal } = client
      const patch = '{"on":true}'
      await expect(jobs.run(where, 'patch', { ...byAda, patch }, signal)).rejects.toMatchObject({
        code: 'busy',
      })
      await expect(jobs.run(where, 'delete', everything, signal)).rejects.toMatchObject({
        code: 'busy',
      })
      expect((await stored()).filter(({ on }) => on === undefined)).toHaveLength(600)
      await expect.poll(countRows).toEqual([0, 0])
      expect(pauses).toBeLessThan(10)
      await jobs.stop()
    })

    it('has the limits of queries without an index', async () => {
      let time = 0
      const scans = new ScanLimit(SCANS, () => time)
      const pause = async () => {
        time += SCANS.duration
      }
      const jobs = node(pause, undefined, undefined, scans)
      await expect(jobs.run(where, 'delete', byAda)).rejects.toMatchObject({
        code: 'query-too-expensive',
        message: expect.stringMatching(/Nothing was changed.*respond-async.*An index on author/),
        details: { fields: ['author'] },
      })
      expect(await stored()).toHaveLength(600)
      const job = await ended(jobs, await jobs.begin(where, 'patch', { ...byAda, patch: '{}' }))
      expect(job).toMatchObject({ state: 'done', found: 300 })
      const indexes = openIndexesOf(store)
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
        await repository.insert(other, [{ id: 'd10000', body: '{"id":"d10000"}' }])
      }
      // Also with equal tags: every filter must include the database and the collection.
      const same = store.db.updateTable('documents').set({ tag: 'same' })
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
        expect((await repository.list(other, undefined, 9))[0]?.body).toBe('{"id":"d10000"}')
      }
      await jobs.stop()
    })

    it('changes none if one of them cannot be changed', async () => {
      const id = 'd10599'
      const large = JSON.stringify({ id, text: 'x'.repeat(2 ** 20 - 100) })
      const { tag = '' } = (await repository.read({ ...where, id })) ?? {}
      await repository.update({ ...where, id }, tag, large)
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
        const change = async (id: string, body: object) => {
          const { tag = '' } = (await repository.read({ ...where, id })) ?? {}
          await repository.update({ ...where, id }, tag, JSON.stringify({ id, ...body }))
        }
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
    const schemas = createSchemas(store, checker)
    const text = '{"properties":{"n":{"type":"number"}}}'
    const patch = async (collection: string) => {
      const there = { database: '_system', collection }
      await schemas.put(there, text, { match: undefined, noneMatch: undefined })
      await repository.insert(there, [{ id: 'a', body: '{"id":"a","n":1}' }])
      const change = async () => {
        const { tag = '' } = (await repository.read({ ...there, id: 'a' })) ?? {}
        await repository.update({ ...there, id: 'a' }, tag, '{"id":"a","n":2}')
      }
      const jobs = node(after(1, change), schemas.current)
      await jobs.run(there, 'patch', { ...everything, patch: '{"on":true}' })
      await jobs.stop()
      expect((await repository.read({ ...there, id: 'a' }))?.body).toBe(
        '{"id":"a","n":2,"on":true}',
      )
    }
    const collections = Array.from({ length: 12 }, (_, at) => `c${at}`)
    // A node owns its SQLite store, so it would take jobs of another one for those of a dead node.
    if (engine.name === 'sqlite') for (const each of collections) await patch(each)
    else await Promise.all(collections.map(patch))
    await checker.close()
  })

  it('fails if validating concurrently changed documents takes too long', async () => {
    await repository.insert(where, [
      { id: 'a', body: '{"id":"a","n":1}' },
      { id: 'b', body: '{"id":"b","n":1}' },
    ])
    const change = async () => {
      for (const id of ['a', 'b']) {
        const { tag = '' } = (await repository.read({ ...where, id })) ?? {}
        await repository.update({ ...where, id }, tag, `{"id":"${id}","n":2}`)
      }
    }
    const slow: CurrentSchemaOf = async () => ({
      tag: null,
      validate: async () => {
        now += MERGE_TIME - 1_000
      },
    })
    // On SQLite, the limit applies only to documents that change during the job's last check.
    const jobs = node(after(engine.name === 'sqlite' ? 2 : 1, change), slow)
    await expect(jobs.run(where, 'patch', { ...everything, patch: '{"on":true}' })).rejects.toThrow(
      'Documents were changed at the same time, and validating them again takes too long.',
    )
    expect(await stored()).toEqual([
      { id: 'a', n: 2 },
      { id: 'b', n: 2 },
    ])
    await jobs.stop()
  })

  describe('a schema that is set while a job runs', () => {
    const checker = createSchemaChecker()
    afterAll(() => checker.close())
    const put = (schemas: Schemas, type: string) => {
      const schema = `{"properties":{"n":{"type":"${type}"}}}`
      return schemas.put(where, schema, { match: undefined, noneMatch: undefined })
    }

    it.each([
      ['the array arrives', 'string', 1],
      ['the array arrives', 'number', 1],
      ['the documents are stored', 'string', 2],
      ['the documents are stored', 'number', 2],
    ])('applies to an array while %s: n is a %s', async (_, type, requested) => {
      const schemas = createSchemas(store, checker)
      let times = 0
      const schemaOf: CurrentSchemaOf = (collection) => {
        times++
        return schemas.current(collection)
      }
      let done: Promise<unknown> | undefined
      const outside = AsyncLocalStorage.snapshot()
      const jobs = node(async () => {
        if (times !== requested) return
        done ??= outside(() => put(schemas, type))
        await done
      }, schemaOf)
      const end = await ended(jobs, await created(jobs, documents(1_000, { text })))
      expect(done).toBeDefined()
      if (type === 'number') {
        expect(end).toMatchObject({ state: 'done', found: 1_000 })
        expect(await stored()).toHaveLength(1_000)
      } else {
        const message =
          '"d10000": This does not match the schema of its collection: /n must be string.'
        expect(end).toMatchObject({ state: 'failed', failure: { code: 'invalid', message } })
        expect(await stored()).toEqual([])
      }
      await jobs.stop()
    })

    it('applies to a patch of a collection', async () => {
      await insert(600)
      const schemas = createSchemas(store, checker)
      const change = () => put(schemas, 'string')
      const jobs = node(after(1, change), schemas.current)
      await expect(
        jobs.run(where, 'patch', { ...everything, patch: '{"on":true}' }),
      ).rejects.toMatchObject({ code: 'invalid' })
      expect((await stored()).filter(({ on }) => on === true)).toEqual([])
      await jobs.stop()
    })

    it('fails the job if it keeps changing', async () => {
      const schemas = createSchemas(store, checker)
      const outside = AsyncLocalStorage.snapshot()
      const jobs = node(() => outside(() => put(schemas, 'number')), schemas.current)
      const end = await ended(jobs, await created(jobs, documents(1_000, { text })))
      expect(end).toMatchObject({ state: 'failed', failure: { code: 'busy' } })
      expect(await stored()).toEqual([])
      await jobs.stop()
    })
  })

  describe('listing', () => {
    beforeEach(() =>
      repository.insert(
        where,
        Array.from({ length: 600 }, (_, n) => {
          const id = `d${10_000 + n}`
          return { id, body: JSON.stringify({ id, on: n % 2 === 0 }) }
        }),
      ),
    )

    it.each([
      ['all', everything, 600],
      ['what passes the filter', { filter: [['on', 'true']] as const }, 300],
    ])('counts %s and stores its position, but no documents', async (_, request, found) => {
      const kept: unknown[] = []
      const copies = store.db.selectFrom('job_documents').selectAll()
      const jobs = node(async () => kept.push(...(await copies.execute())))
      const end = await ended(jobs, await jobs.begin(where, 'list', request))
      expect(end).toMatchObject({ state: 'done', done: 600, found, cursor: 'd10599' })
      await expect.poll(countRows).toEqual([1, 0])
      expect(kept).toEqual([])
      await jobs.stop()
    })

    it('continues from its cursor after a stop', async () => {
      const first = node(after(3, () => void first.stop()))
      const job = await first.begin(where, 'list', everything)
      await expect.poll(async () => (await first.read('_system', job.id)).done).toBeGreaterThan(0)
      await first.stop()
      const halfway = await first.read('_system', job.id)
      expect([halfway.state, halfway.cursor]).toEqual(['running', `d${9_999 + halfway.done}`])
      const second = node()
      second.wake()
      expect(await ended(second, job)).toMatchObject({ done: 600, found: 600, cursor: 'd10599' })
      await second.stop()
    })

    it('deletes the oldest ended listings of the database beyond the limit', async () => {
      const jobs = node()
      const oldest = await ended(jobs, await jobs.begin(where, 'list', everything))
      await jobs.stop()
      const { id, ...row } = await store.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()
      const more = Array.from({ length: MAX_LISTINGS - 1 }, (_, n) => n)
      for (let at = 0; at < more.length; at += 50) {
        const rows = more.slice(at, at + 50).map((n) => ({
          ...row,
          id: `more${n}`,
          created_at: row.created_at + 1 + n,
        }))
        await store.db.insertInto('jobs').values(rows).execute()
      }
      now += MAX_LISTINGS
      await jobs.begin({ ...where, database: 'x' }, 'list', everything)
      await jobs.begin(where, 'list', everything)
      expect((await jobs.read('_system', oldest.id)).state).toBe('done')
      await store.db.updateTable('jobs').set({ state: 'done' }).execute()
      await jobs.begin(where, 'list', everything)
      await expect(jobs.read('_system', oldest.id)).rejects.toMatchObject({ code: 'not-found' })
      expect((await jobs.read('_system', 'more0')).state).toBe('done')
    })
  })

  it('continues where another node has stopped, without repetition', async () => {
    const { promise: halted, resolve: halt } = Promise.withResolvers<void>()
    const first = node(
      after(2, () => {
        void first.stop()
        halt()
      }),
    )
    await insert(750)
    const job = await first.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
    await halted
    await first.stop()
    const halfway = await first.read('_system', job.id)
    expect(halfway.state).toBe('running')
    expect(halfway.done).toBeGreaterThan(0)
    expect(halfway.done).toBeLessThan(750)
    const second = node()
    second.wake()
    expect(await ended(second, job)).toMatchObject({ state: 'done', done: 750, found: 750 })
    expect((await stored()).filter(({ on }) => on)).toHaveLength(750)
    await second.stop()
  })

  it('does not claim a job before its lease expires', async () => {
    const holder = node()
    await holder.stop()
    const { id } = await holder.begin(where, 'delete', everything)
    const claim = { claimed_by: 'another', claimed_until: now + LEASE }
    const other = node()
    other.wake()
    await ended(other, { id })
    await store.db
      .updateTable('jobs')
      .set({ state: 'running', ...claim })
      .execute()
    // It would have claimed the older job before it finished a younger one.
    await ended(other, await created(other, documents(1_000)))
    expect((await other.read('_system', id)).state).toBe('running')
    await other.stop()
    now += LEASE + 1
    const third = node()
    third.wake()
    expect((await ended(third, { id })).state).toBe('done')
    await third.stop()
  })

  it('continues once the database is available again', async () => {
    await repository.insert(where, [{ id: 'a', body: '{"id":"a"}' }])
    let [away, looks] = [true, 0]
    const jobs = node(undefined, async () => {
      // The first query belongs to the request.
      if (looks++ > 0 && away) throw new Failure('unavailable', 'away')
      return { tag: null }
    })
    const job = await jobs.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
    await expect.poll(() => errors).toHaveLength(1)
    expect((await jobs.read('_system', job.id)).state).toBe('running')
    away = false
    now += LEASE + 1
    jobs.wake()
    expect(await ended(jobs, job)).toMatchObject({ state: 'done', found: 1, failure: null })
    await jobs.stop()
  })

  it('stops working on a job that another node has taken over', async () => {
    let taken = false
    const jobs = node(async () => {
      if (taken) return
      const { numUpdatedRows } = await store.db
        .updateTable('jobs')
        .set({ claimed_by: 'another', claimed_until: now + LEASE })
        .where('kind', '=', 'patch')
        .where('done', '>', 0)
        .executeTakeFirst()
      taken = numUpdatedRows > 0n
    })
    await insert(750)
    const job = await jobs.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
    await expect.poll(() => taken).toBe(true)
    // By the time that a later job of the same size is done, this one would have been done too.
    const next = await ended(jobs, await jobs.begin(where, 'delete', everything))
    expect(next.state).toBe('done')
    const { state, done } = await jobs.read('_system', job.id)
    expect([state, done < 2_000]).toEqual(['running', true])
    await jobs.stop()
    expect(errors).toEqual([])
  })

  it('belongs to its database and is deleted with it', async () => {
    await store.db.insertInto('databases').values({ name: 'b', id: 'b1', created_at: 1 }).execute()
    const jobs = node()
    const list = await jobs.begin({ ...where, database: 'b1' }, 'list', everything)
    await expect.poll(async () => (await jobs.read('b1', list.id)).state).toBe('done')
    await expect(jobs.read('_system', list.id)).rejects.toMatchObject({ code: 'not-found' })
    await store.db.deleteFrom('databases').execute()
    jobs.wake()
    await expect.poll(countRows).toEqual([0, 0])
    await jobs.stop()
  })

  it('stores nothing for a database dropped during the job', async () => {
    await store.db.insertInto('databases').values({ name: 'b', id: 'b1', created_at: 1 }).execute()
    // With the last part of the array.
    const jobs = node(after(4, () => store.db.deleteFrom('databases').execute()))
    await create(jobs, documents(1_000), { target: { ...where, database: 'b1' } })
    const poll = () => {
      jobs.wake()
      return countRows()
    }
    await expect.poll(poll, { timeout: 10_000 }).toEqual([0, 0])
    expect(await repository.databases()).toEqual([])
    await jobs.stop()
  })

  it('is kept for a day after its end', async () => {
    const jobs = node()
    const job = await ended(jobs, await jobs.begin(where, 'delete', everything))
    now += JOB_RETENTION - 1
    jobs.wake()
    expect((await jobs.read('_system', job.id)).state).toBe('done')
    now += 1
    const later = node()
    later.wake()
    await expect.poll(countRows).toEqual([0, 0])
    await jobs.stop()
    await later.stop()
  })

  it('is rejected if too many jobs of the database are unfinished', async () => {
    const jobs = node()
    await jobs.stop()
    for (let n = 0; n < MAX_UNFINISHED_JOBS; n++) await jobs.begin(where, 'list', everything)
    const refused = { code: 'too-many-requests' }
    for (const state of ['preparing', 'attached', 'running']) {
      await store.db.updateTable('jobs').set({ state }).execute()
      await expect(jobs.begin(where, 'list', everything)).rejects.toMatchObject(refused)
    }
    await expect(create(jobs, '[]')).rejects.toMatchObject(refused)
    await expect(jobs.begin({ ...where, database: 'x' }, 'list', everything)).resolves.toBeDefined()
  })
})
