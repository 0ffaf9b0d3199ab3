import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTurns } from '../../concurrency/turns.ts'
import { readRecords } from '../../contract/records/read-records.ts'
import { createCollectionSearch } from '../../documents/collections/collection-search.ts'
import { createTestRules } from '../../documents/document-rules.testing.ts'
import { createImporter } from '../../documents/import/importer.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { createReadyIndexes } from '../../documents/indexes/ready-indexes.ts'
import { createFindPage } from '../../documents/query/find-page.ts'
import { idsOn } from '../../documents/query/ids-on-page.testing.ts'
import { parseDocumentQuery } from '../../documents/query/query.ts'
import { readPage } from '../../documents/query/scan/read-page.ts'
import { SCANS, ScanLimit } from '../../documents/query/scan/scan-limit.ts'
import { afterStatement } from '../../documents/repository/after-statement.testing.ts'
import { readStored } from '../../documents/repository/read-stored.testing.ts'
import { createDocumentRepository } from '../../documents/repository/repository.ts'
import type { DocumentRepository } from '../../documents/repository/stored-documents.ts'
import { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import { testCaller } from '../../storage/test-support/caller.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { JobRequest } from '../job.ts'
import { createJobs, type Jobs, type JobsDeps } from '../jobs.ts'

const where = { database: '_system', collection: 'articles' }
const everything = { filter: [] }
/** More documents than one transaction changes. */
const COUNT = 4_500

const idOf = (n: number) => `d${10_000 + n}`
const rows = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, n) => {
    const id = idOf(n)
    return { id, body: JSON.stringify({ id, n, ...more }) }
  })

forEngine('sqlite', (engine) => {
  let store: Store
  let repository: DocumentRepository
  let errors: unknown[]
  /** Called between two steps. */
  let between: () => Promise<unknown>

  beforeEach(async () => {
    store = await engine.open()
    repository = createDocumentRepository(store)
    errors = []
    between = async () => {}
  })

  const node = (more: Partial<JobsDeps> = {}): Jobs =>
    createJobs({
      store,
      rules: createTestRules(() => 0),
      now: () => 0,
      // A turn of the event loop, as other requests need it.
      pause: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        await between()
      },
      onError: (error) => errors.push(error),
      ...more,
    })
  async function* parts(documents: readonly { id: string; body: string }[]) {
    for (let at = 0; at < documents.length; at += 250) yield documents.slice(at, at + 250)
  }
  const create = async (jobs: Jobs, count = COUNT) => {
    const created = await jobs.create(where, parts(rows(count)), false)
    if ('documents' in created) created.release()
    return created
  }
  const idsOf = async () => {
    const ids: string[] = []
    for (;;) {
      const page = await repository.list(where, { after: ids.at(-1) }, 1_000)
      ids.push(...page.map(({ id }) => id))
      if (page.length < 1_000) return ids
    }
  }
  /**
   * Returns the number of rows in the table, without committed changes that are not yet written.
   */
  const written = async () => (await store.db.selectFrom('documents').select('id').execute()).length
  const states = async () =>
    (await store.db.selectFrom('jobs').select('state').execute()).map(({ state }) => state)

  it('makes an array visible at once, and writes it in steps that let other writes through', async () => {
    const jobs = node()
    const seen = new Set<number>()
    const steps = new Set<number>()
    let others = 0
    between = async () => {
      seen.add((await repository.list(where, {}, 1_000)).length)
      steps.add(await written())
      await repository.insert({ ...where, collection: 'others' }, [
        { id: `o${others++}`, body: '{}' },
      ])
    }
    await create(jobs)
    await expect.poll(states).toEqual([])
    expect([...seen].sort()).toEqual([0, 1_000])
    // The table is seen partially written: other writes ran between two commits.
    expect(
      [...steps].filter((count) => count > others + 1 && count < COUNT).length,
    ).toBeGreaterThan(2)
    expect(await idsOf()).toHaveLength(COUNT)
    await jobs.stop()
    expect(errors).toEqual([])
  })

  it.each([
    ['patch', { ...everything, patch: '{"on":true}' }],
    ['delete', everything],
  ] as const)('makes a %s visible at once', async (kind, request) => {
    const jobs = node()
    await create(jobs)
    await expect.poll(states).toEqual([])
    const seen = new Set<string>()
    between = async () => {
      const [first, last] = await Promise.all(
        [idOf(0), idOf(COUNT - 1)].map((id) => repository.read({ ...where, id })),
      )
      const listed = await repository.list(where, { after: idOf(COUNT - 3) }, 9)
      const changed = (body: string | undefined) => body === undefined || body.includes('"on"')
      seen.add(`${changed(first?.body)} ${changed(last?.body)} ${changed(listed[0]?.body)}`)
    }
    expect(await jobs.run(where, kind, request)).toBe(COUNT)
    await expect.poll(states).toEqual([])
    // The commit may fall between the reads. A later read must see it if an earlier one does.
    expect([...seen]).not.toContain('true false false')
    expect([...seen]).toContain('true true true')
    const remaining = await repository.list(where, {}, 9)
    if (kind === 'delete') expect([remaining, await written()]).toEqual([[], 0])
    else expect(remaining.every(({ body }) => body.includes('"on":true'))).toBe(true)
    await jobs.stop()
  })

  it.each([
    ['omits a collection that a deletion empties', [], ['others']],
    ['lists a collection that keeps a document', [['n:ne', '4000']], ['articles', 'others']],
  ] as const)('%s, before the change is applied', async (_, filter, expected) => {
    const jobs = node()
    await create(jobs)
    await expect.poll(states).toEqual([])
    await repository.insert({ ...where, collection: 'others' }, [{ id: 'a', body: '{}' }])
    const listed: string[][] = []
    between = async () => {
      if (store.collectionWrites?.unapplied(where) === undefined) return
      listed.push(await repository.collections('_system'))
    }
    await jobs.run(where, 'delete', { filter })
    await expect.poll(states).toEqual([])
    expect(listed.length).toBeGreaterThan(0)
    for (const names of listed) expect(names).toEqual(expected)
    await jobs.stop()
  })

  it('continues after a stop, and shows the whole change until then', async () => {
    const first = node()
    const stopped = new Promise<void>((resolve) => {
      between = async () => {
        const count = await written()
        if (count > 0 && count < COUNT) void first.stop().then(resolve)
      }
    })
    await create(first)
    await stopped
    between = async () => {}
    expect([await states(), (await written()) < COUNT]).toEqual([['applying'], true])
    await store.close()
    store = await engine.open()
    repository = createDocumentRepository(store)
    const second = node()
    const [restored] = [second.restore()]
    await restored
    expect(await idsOf()).toHaveLength(COUNT)
    await expect.poll(states).toEqual(['done'])
    expect(await written()).toBe(COUNT)
    await second.stop()
  })

  it('creates nothing if an id exists, also if it is created during the check', async () => {
    await repository.insert(where, [{ id: idOf(COUNT - 1), body: '{}' }])
    const jobs = node()
    await expect(create(jobs)).rejects.toMatchObject({ code: 'conflict' })
    expect(await idsOf()).toEqual([idOf(COUNT - 1)])
    const late = { id: idOf(7), body: '{"late":true}' }
    const ref = { ...where, id: idOf(COUNT - 1) }
    await repository.delete(ref, await readStored(repository, ref))
    // The runner no longer pauses, so all pauses belong to the array and then to its check.
    await expect.poll(states).toEqual([])
    let pauses = 0
    between = async () => {
      if (++pauses === Math.ceil(COUNT / 250) + 2) await repository.insert(where, [late])
    }
    await expect(create(jobs)).rejects.toMatchObject({ code: 'conflict' })
    expect(await repository.list(where, {}, 9)).toMatchObject([late])
    await jobs.stop()
  })

  it('ends when its database is dropped', async () => {
    await store.db.insertInto('databases').values({ name: 'b', id: 'b1', created_at: 1 }).execute()
    const target = { ...where, database: 'b1' }
    const jobs = node()
    between = async () => {
      if ((await written()) > 0) await store.db.deleteFrom('databases').execute()
    }
    await jobs.create(target, parts(rows(COUNT)), false)
    await expect.poll(() => store.collectionWrites?.unapplied(target)).toBeUndefined()
    expect(await written()).toBeLessThan(COUNT)
    await jobs.stop()
  })

  it('is applied to the documents of a request in transactions of limited size', async () => {
    const large = rows(100, { text: 'x'.repeat(50_000) })
    await repository.insert(where, large)
    let transactions = 0
    const { transaction } = store
    Object.assign(store, {
      transaction: ((...parameters) => {
        transactions++
        return transaction(...parameters)
      }) satisfies Store['transaction'],
    })
    const jobs = node()
    let applied: Promise<number> | undefined
    between = async () => {
      const change = store.collectionWrites?.unapplied(where)
      if (change === undefined || applied !== undefined) return
      const before = transactions
      applied = change.apply(large.map(({ id }) => id)).then(() => transactions - before)
      await applied
    }
    expect(await jobs.run(where, 'patch', { ...everything, patch: '{"on":true}' })).toBe(100)
    await expect.poll(states).toEqual([])
    // The first step has written a part of 5 MB.
    expect(await applied).toBeGreaterThanOrEqual(4)
    const { rows: patched } = await sql`
      select id from documents where body like '%"on":true}'`.execute(store.db)
    expect(patched).toHaveLength(100)
    await jobs.stop()
  })

  describe('a job that meets larger documents than it has staged', () => {
    const LARGE_COUNT = 40
    const large = 'x'.repeat(100_000)
    /** The most bytes of bodies that one statement of the jobs has read. */
    let most: number
    let jobs: Jobs

    beforeEach(() => {
      most = 0
      const db = afterStatement(store.db, 'documents', async (found) => {
        const bodies = found.map((row) => (row as { readonly body?: string }).body ?? '')
        most = Math.max(
          most,
          bodies.reduce((sum, body) => sum + body.length, 0),
        )
      })
      jobs = node({ store: { ...store, db } })
    })

    it('rejects an array whose ids exist without reading their documents', async () => {
      await repository.insert(where, rows(LARGE_COUNT, { large }))
      await expect(create(jobs, 1_200)).rejects.toMatchObject({ code: 'conflict' })
      expect(most).toBeLessThan(large.length)
      await jobs.stop()
    })

    it.each([
      ['patch', { ...everything, patch: '{"on":true}' }],
      ['delete', everything],
    ] as const)('reads them in portions for a %s', async (kind, request) => {
      await repository.insert(where, rows(LARGE_COUNT))
      let rounds = 0
      between = async () => {
        // After the scan, and after the first portion of the check.
        if (rounds === 2) return
        rounds++
        for (const { id, body } of rows(LARGE_COUNT, { large, rounds })) {
          const ref = { ...where, id }
          expect(
            await repository.update(ref, await readStored(repository, ref), body),
          ).toBeDefined()
        }
      }
      expect(await jobs.run(where, kind, request)).toBe(LARGE_COUNT)
      expect(rounds).toBe(2)
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThan(300_000)
      await expect.poll(states).toEqual([])
      const { rows: patched } = await sql`
        select id from documents where body like '%"rounds":2,"on":true}'`.execute(store.db)
      expect(patched).toHaveLength(kind === 'patch' ? LARGE_COUNT : 0)
      expect(await written()).toBe(kind === 'patch' ? LARGE_COUNT : 0)
      await jobs.stop()
    })
  })

  it('retries failed writes, and stays visible', async () => {
    let fails = true
    const { transaction } = store
    Object.assign(store, {
      transaction: ((work, length) =>
        fails && store.collectionWrites?.unapplied(where) !== undefined
          ? Promise.reject(new Error('the disk is full'))
          : transaction(work, length)) satisfies Store['transaction'],
    })
    const jobs = node()
    await create(jobs)
    await expect.poll(() => errors).toHaveLength(1)
    expect([await written(), (await idsOf()).length]).toEqual([0, COUNT])
    fails = false
    await expect.poll(written).toBe(COUNT)
    await jobs.stop()
  })

  it.each([
    ['patch', { ...everything, patch: '{"on":true}' }],
    ['delete', everything],
    ['list', everything],
  ] as const)(
    'runs a %s in the background while other changes follow without a pause',
    async (kind, request) => {
      await repository.insert(where, rows(600))
      const jobs = node({ now: () => 1 })
      const { id } = await jobs.begin(where, kind, request)
      let state: string | undefined
      let turns = 0
      // One of two changes always waits for the other one.
      const changes = [1, 2].map(async () => {
        for (; state !== 'done' && turns < 5_000; turns++) {
          await store.collectionWrites?.turn(where, () => new Promise(setImmediate))
          ;({ state } = await jobs.read('_system', id))
        }
      })
      await Promise.all(changes)
      expect(state).toBe('done')
      await jobs.stop()
      expect(errors).toEqual([])
    },
  )

  it.each([
    ['rewrites the entries of indexes on the fields of a patch', '{"n":7,"on":true}', 'by-n,by-on'],
    ['keeps the entries of indexes on other fields', '{"on":true}', 'by-on'],
  ])('%s', async (_what, patch, expected) => {
    const indexes = openIndexesOf(store)
    await create(node())
    await expect.poll(states).toEqual([])
    for (const name of ['n', 'on']) await indexes.put(where, `by-${name}`, [name])
    await indexes.build()
    const rules = createTestRules(() => 0)
    const rewritten = new Set<string>()
    const openIndexes: typeof rules.openIndexes = async (...parameters) => {
      const found = await rules.openIndexes(...parameters)
      return (
        found && {
          ...found,
          addCommitted(documents) {
            for (const { name } of found.definitions) rewritten.add(name)
            return found.addCommitted(documents)
          },
        }
      )
    }
    const jobs = node({ rules: { ...rules, openIndexes } })
    await jobs.run(where, 'patch', { ...everything, patch })
    await store.collectionWrites?.whenApplied(where)
    await expect.poll(states).toEqual([])
    await jobs.stop()
    const find = createFindPage({
      repository,
      readyIndexes: createReadyIndexes(repository.indexes),
      nextTurn: createTurns(),
      scans: new ScanLimit(),
    })
    const search = (text: string) => {
      const query = parseDocumentQuery(new URLSearchParams(text))
      const bounds = { reserve: () => undefined, caller: testCaller }
      return find(where, { ...query, from: undefined, count: true }, bounds)
    }
    const isSet = patch.includes('7')
    expect(await search('n=7')).toMatchObject({ index: 'by-n', total: isSet ? COUNT : 1 })
    expect(await search('n=8')).toMatchObject({ index: 'by-n', total: isSet ? 0 : 1 })
    expect(await search('on=true')).toMatchObject({ index: 'by-on', total: COUNT })
    expect([...rewritten].sort().join()).toBe(expected)
  })

  describe('while the deletion of a collection is applied', () => {
    const other = { ...where, collection: 'other' }
    const nextTurn = createTurns()
    const signal = () => new AbortController().signal
    let deleting: Jobs
    let jobs: Jobs
    let scans: ScanLimit
    let proceed: () => void

    beforeEach(async () => {
      await create(node())
      await expect.poll(states).toEqual([])
      const indexes = openIndexesOf(store)
      await indexes.put(where, 'by-n', ['n'])
      await indexes.build()
      const proceeding = Promise.withResolvers<void>()
      proceed = proceeding.resolve
      const isUnapplied = () => store.collectionWrites?.unapplied(where) !== undefined
      deleting = node({ pause: async () => isUnapplied() && proceeding.promise })
      await deleting.run(where, 'delete', everything)
      scans = new ScanLimit({ ...SCANS, wait: 1 })
      jobs = node({ now: () => 1, search: createCollectionSearch(store, scans, nextTurn) })
      await repository.insert(other, [{ id: 'a', body: '{"id":"a"}' }])
    })

    async function end(): Promise<void> {
      proceed()
      await expect.poll(states).toEqual([])
      await Promise.all([deleting.stop(), jobs.stop()])
      expect(errors).toEqual([])
    }

    it('imports of other collections do not wait', async () => {
      async function* chunks() {
        yield Buffer.from('{"id":"b"}')
      }
      const { run } = createImporter({
        repository,
        now: () => 0,
        schemaOf: async () => ({ tag: null }),
      })
      const importTo = (target: typeof where, client: AbortSignal) =>
        run(target, readRecords(chunks(), 'ndjson'), 'fail', client)
      const client = new AbortController()
      const leaving = importTo(where, client.signal)
      const waiting = importTo(where, signal())
      expect(await importTo(other, signal())).toMatchObject({ created: 1 })
      client.abort(new Error('disconnected'))
      await expect(leaving).rejects.toThrow('disconnected')
      await end()
      expect(await waiting).toMatchObject({ created: 1 })
    })

    it('jobs of other collections do not wait', async () => {
      const patch = { ...everything, patch: '{"on":true}' }
      for (let n = 0; n < 5; n++) await jobs.begin(where, 'patch', patch)
      const { id } = await jobs.begin(other, 'patch', patch)
      await expect.poll(async () => (await jobs.read('_system', id)).state).toBe('done')
      expect((await states()).filter((state) => state === 'running')).toHaveLength(5)
      proceed()
      await store.collectionWrites?.whenApplied(where)
      // The other node would wake itself.
      jobs.wake()
      await expect.poll(states).toEqual(Array(6).fill('done'))
      await Promise.all([deleting.stop(), jobs.stop()])
    })

    it('a job that waits for it continues although a step of it fails', async () => {
      const writes = store.collectionWrites
      if (writes === undefined) throw new Error('only with SQLite')
      const waits = vi.spyOn(writes, 'whenApplied')
      const { id } = await jobs.begin(where, 'patch', { ...everything, patch: '{"on":true}' })
      await expect.poll(() => waits).toHaveBeenCalledTimes(1)
      writes.failed(where, new Failure('insufficient-storage', 'The disk is full.'))
      await expect.poll(() => waits).toHaveBeenCalledTimes(2)
      proceed()
      await expect.poll(async () => (await jobs.read('_system', id)).state).toBe('done')
      await Promise.all([deleting.stop(), jobs.stop()])
      expect(errors).toEqual([])
    })

    it('changes that wait for it take no slot of scans, and end with their client', async () => {
      const filtered: JobRequest = { filter: [['n', '1']], patch: '{"on":true}' }
      const client = new AbortController()
      const leaving = jobs.run(where, 'patch', filtered, testCaller(client.signal))
      const waiting = [1, 2].map(() => jobs.run(where, 'patch', filtered))
      expect(await jobs.run(other, 'patch', filtered)).toBe(0)
      client.abort()
      await expect(leaving).rejects.toMatchObject({ code: 'busy' })
      await end()
      expect(await Promise.all(waiting)).toEqual([0, 0])
    })

    /** Occupies all slots of scans. Returns a function that releases them. */
    function occupyScans(): () => Promise<unknown> {
      const occupied = Promise.withResolvers<void>()
      const running = Array.from({ length: SCANS.running }, (_, at) =>
        scans.run(testCaller(undefined, `${at}`), () => occupied.promise),
      )
      return () => {
        occupied.resolve()
        return Promise.all(running)
      }
    }

    it('a listing that passes many deleted documents is a scan', async () => {
      const readyIndexes = createReadyIndexes(repository.indexes)
      const find = createFindPage({ repository, readyIndexes, nextTurn, scans })
      const query = { ...parseDocumentQuery(new URLSearchParams()), from: undefined, count: false }
      const bounds = { reserve: () => undefined, caller: testCaller }
      const list = (limit: number, from: number) =>
        find(where, { ...query, limit, from: { values: [], id: idOf(from) } }, bounds)
      const release = occupyScans()
      await expect(list(1, 0)).rejects.toMatchObject({ code: 'busy' })
      expect(await list(1, COUNT - 900)).toMatchObject({ returned: 0, next: undefined })
      await release()
      expect(await list(1, 0)).toMatchObject({ returned: 0, next: undefined })
      await end()
    })

    it('a query waits for an index that serves it, takes no slot of scans, and ends with its client', async () => {
      const readyIndexes = createReadyIndexes(repository.indexes)
      const search = (text: string, more: { indexWait?: number; client?: AbortSignal } = {}) => {
        const { indexWait, client } = more
        const find = createFindPage({
          repository,
          readyIndexes,
          nextTurn,
          scans,
          ...(indexWait !== undefined && { indexWait }),
        })
        const query = parseDocumentQuery(new URLSearchParams(text))
        const bounds = { reserve: () => undefined, caller: () => testCaller(client) }
        return find(where, { ...query, from: undefined, count: false }, bounds)
      }
      const release = occupyScans()
      const client = new AbortController()
      const leaving = search('n=1', { client: client.signal })
      const waiting = search('n=1')
      await expect(search('other=1')).rejects.toMatchObject({ code: 'busy' })
      await expect(search('n=1', { indexWait: 1 })).rejects.toMatchObject({ code: 'busy' })
      client.abort()
      await expect(leaving).rejects.toMatchObject({ code: 'busy' })
      await end()
      expect(await waiting).toMatchObject({ index: 'by-n', returned: 0 })
      await release()
    })
  })

  describe('requests while a change is applied', () => {
    const nextTurn = createTurns()
    const id = fc.integer({ min: 0, max: 11 }).map((n) => idOf(n * 450))
    const request = fc.record({
      verb: fc.constantFrom('insert', 'update', 'delete', 'read', 'list'),
      id,
      n: fc.nat({ max: 99 }),
    })
    const kinds = fc.constantFrom('create', 'patch', 'delete')
    /** Operations on documents to which a change was not yet applied, by kind of change. */
    const met = new Set<string>()

    it('read and change its documents like a model', async () => {
      await fc.assert(
        fc.asyncProperty(
          kinds,
          fc.array(request, { minLength: 15, maxLength: 60 }),
          async (kind, requests) => {
            await store.db.deleteFrom('documents').execute()
            const jobs = node()
            const model = new Map<string, string>()
            const count = 5_400
            if (kind !== 'create') {
              between = async () => {}
              await create(jobs, count)
              await expect.poll(states).toEqual([])
            }
            // The model starts with the result of the change; for a delete it starts empty.
            for (const { id: each, body } of rows(count)) {
              if (kind === 'create') model.set(each, body)
              if (kind === 'patch') model.set(each, body.replace('}', ',"on":true}'))
            }
            const queue = [...requests]
            const pages = { repository, nextTurn }
            const performOne = async () => {
              if (store.collectionWrites?.unapplied(where) === undefined) return
              const requested = queue.shift()
              if (requested === undefined) return
              const ref = { ...where, id: requested.id }
              const pending = await store.collectionWrites?.unapplied(where)?.read(requested.id)
              if (pending !== undefined) met.add(`${requested.verb} ${kind}`)
              const found = await repository.read(ref)
              expect(found?.body).toEqual(model.get(requested.id))
              const body = JSON.stringify({ id: requested.id, by: requested.n })
              if (requested.verb === 'insert') {
                const result = await repository.insert(where, [{ id: requested.id, body }])
                expect('exists' in result).toBe(model.has(requested.id))
                if ('tags' in result) model.set(requested.id, body)
              } else if (requested.verb === 'update' && found !== undefined) {
                expect(await repository.update(ref, found, body)).toBeDefined()
                model.set(requested.id, body)
              } else if (requested.verb === 'delete' && found !== undefined) {
                expect(await repository.delete(ref, found)).toBe(true)
                model.delete(requested.id)
              } else if (requested.verb === 'list') {
                const isDescending = requested.n % 2 === 0
                const range = { after: requested.id, isDescending }
                const listed = await repository.list(where, range, 50)
                const sorted = [...model].sort()
                const expected = (isDescending ? sorted.reverse() : sorted)
                  .filter(([each]) => each !== requested.id && each > requested.id !== isDescending)
                  .slice(0, 50)
                expect(listed.map((row) => [row.id, row.body])).toEqual(expected)
                const parameters = new URLSearchParams(isDescending ? 'sort=-id' : '')
                const query = { ...parseDocumentQuery(parameters), limit: 50, count: false }
                const from = { values: [], id: requested.id }
                const page = await readPage(pages, where, { ...query, from })
                expect(idsOn(page)).toEqual(expected.map(([each]) => each))
              }
            }
            let isBusy = false
            // Steps of several jobs end at the same time; the model handles one request at a time.
            between = async () => {
              if (isBusy) return
              isBusy = true
              for (let n = 0; n < 12; n++) await performOne()
              isBusy = false
            }
            if (kind === 'create') await create(jobs, count)
            else {
              const patch = kind === 'patch' ? { patch: '{"on":true}' } : {}
              await jobs.run(where, kind, { ...everything, ...patch })
            }
            await expect.poll(states).toEqual([])
            between = async () => {}
            const all: [string, string][] = []
            for (;;) {
              const page = await repository.list(where, { after: all.at(-1)?.[0] }, 1_000)
              all.push(...page.map((row): [string, string] => [row.id, row.body]))
              if (page.length < 1_000) break
            }
            expect(all).toEqual([...model].sort())
            await jobs.stop()
            expect(errors).toEqual([])
          },
        ),
        { numRuns: 9, endOnFailure: true },
      )
      for (const verb of ['insert', 'update', 'delete']) {
        expect([...met].some((each) => each.startsWith(verb))).toBe(true)
      }
    })
  })
})
