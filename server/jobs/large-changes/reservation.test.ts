import assert from 'node:assert/strict'
import { beforeEach, describe, expect, it } from 'vitest'
import { START } from '../../audit/record.ts'
import { createTestRules } from '../../documents/document-rules.testing.ts'
import type { Documents } from '../../documents/documents.ts'
import { openIndexedDocuments } from '../../documents/indexes/build/indexed-documents.testing.ts'
import { expectEntriesOfDocuments } from '../../documents/indexes/write/stored-entries.testing.ts'
import { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobs, type Jobs } from '../jobs.ts'
import { createJobRepository } from '../repository/repository.ts'

const where = { database: 'db', collection: 'articles' }
const ANY = { match: undefined, noneMatch: undefined }
/** More documents than one transaction changes. */
const COUNT = 4_100
const rules = createTestRules(() => 0)

forEngine('sqlite', (engine) => {
  let store: Store
  let opened: ReturnType<typeof openIndexedDocuments>
  let jobs: Jobs
  let documents: Documents
  let indexes: typeof opened.indexes
  let errors: unknown[]
  /** Called between two steps. */
  let between: () => Promise<unknown>

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    between = async () => {}
    opened = openIndexedDocuments(store, () => between())
    ;({ jobs, documents, indexes, errors } = opened)
    await indexes.put(where, 'sole', ['n'], true)
    await indexes.build()
  })

  const some = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `d${10_000 + n}`, n }))
  const create = (document: object) => documents.create(where, JSON.stringify(document))
  const createArray = (list: readonly object[]) => opened.createArray(where, list)
  const applied = () =>
    expect.poll(() => store.db.selectFrom('jobs').select('state').execute()).toEqual([])
  const rowsOf = async (table: 'documents' | 'index_entries') =>
    (await store.db.selectFrom(table).select('id').execute()).length
  const notUnique = expect.objectContaining({
    code: 'conflict',
    details: expect.objectContaining({ index: 'sole' }),
  })

  /** Checks that the indexes are ready, with exactly the entries of the stored documents. */
  async function expectConsistent(): Promise<void> {
    const states = await store.db.selectFrom('document_indexes').select('state').execute()
    for (const { state } of states) expect(state).toBe('ready')
    await expectEntriesOfDocuments(store)
  }

  it('lets other writes through while it creates, and keeps its values for it', async () => {
    const seen = new Set<number>()
    let rejected = 0
    let others = COUNT
    between = async () => {
      seen.add(await rowsOf('documents'))
      await create({ n: others++ })
      // Reserved, committed or written: from the first step on, no other document can have them.
      if ((await rowsOf('index_entries')) < COUNT) return
      await expect(create({ n: 17 })).rejects.toEqual(notUnique)
      rejected++
    }
    await createArray(some(COUNT))
    await applied()
    await jobs.stop()
    expect(rejected).toBeGreaterThan(5)
    const created = others - COUNT
    const partly = [...seen].filter((count) => count > created && count < COUNT)
    expect(partly.length).toBeGreaterThan(2)
    expect(await rowsOf('documents')).toBe(COUNT + created)
    await expectConsistent()
  })

  describe('an array that cannot be created', () => {
    it.each([
      ['has a value twice', [{ id: 'x', n: 17 }], notUnique],
      ['has a value of a stored document', [{ id: 'x', n: -1 }], notUnique],
      [
        'has an id of a stored document',
        [{ id: 'taken' }],
        expect.objectContaining({ code: 'conflict' }),
      ],
    ])('releases its values if it %s', async (_, last, failure) => {
      await create({ id: 'stored', n: -1 })
      await create({ id: 'taken' })
      await expect(createArray([...some(COUNT), ...last])).rejects.toEqual(failure)
      await create({ id: 'other', n: 17 })
      expect(await rowsOf('documents')).toBe(3)
      await expectConsistent()
      await createArray(some(17))
    })

    it('leaves the entry of a document that a request has created with the same values', async () => {
      const [twin] = some(1)
      let isCreated = false
      between = async () => {
        if (isCreated || (await rowsOf('index_entries')) === 0) return
        isCreated = true
        await create(twin as object)
      }
      await expect(createArray(some(COUNT))).rejects.toMatchObject({ code: 'conflict' })
      expect(isCreated).toBe(true)
      await expectConsistent()
      await expect(create({ id: 'other', n: 0 })).rejects.toEqual(notUnique)
    })
  })

  /**
   * Lets the disk become full once an index has more than `entries`, until `failures` transactions
   * have failed or the returned function is called. Replaces {@link jobs}.
   */
  function fillDisk(entries: number, failures = Infinity): () => void {
    let disk = 'almost full'
    let left = failures
    const { transaction } = store
    Object.assign(store, {
      async transaction(work, length) {
        if (disk === 'almost full' && (await rowsOf('index_entries')) > entries) disk = 'full'
        if (disk === 'full' && left-- > 0)
          throw new Failure('insufficient-storage', 'The disk is full.')
        return transaction(work, length)
      },
    } satisfies Pick<Store, 'transaction'>)
    jobs = createJobs({
      store,
      rules,
      now: () => 1,
      pause: () => new Promise(setImmediate),
      onError: (error) => errors.push(error),
    })
    return () => {
      disk = 'free'
    }
  }

  describe('while the disk is full', () => {
    let recover: () => void

    beforeEach(() => {
      recover = fillDisk(500)
    })
    const list = some(COUNT).map((each) => ({ id: each.id, body: JSON.stringify(each) }))
    async function* parts() {
      for (let at = 0; at < list.length; at += 250) yield list.slice(at, at + 250)
    }

    it('keeps what an array has reserved, and releases it later', async () => {
      await expect(jobs.create(where, parts(), false)).rejects.toMatchObject({
        code: 'insufficient-storage',
      })
      expect(await rowsOf('index_entries')).toBeGreaterThan(0)
      recover()
      await applied()
      expect(await rowsOf('index_entries')).toBe(0)
      await create({ n: 17 })
      await jobs.stop()
    })

    it('repeats the job of an array', async () => {
      await jobs.create(where, parts(), true)
      await expect.poll(() => errors.length).toBeGreaterThan(1)
      recover()
      jobs.wake()
      const stateOf = () => store.db.selectFrom('jobs').select('state').execute()
      await expect.poll(stateOf).toEqual([{ state: 'done' }])
      await expectConsistent()
      await jobs.stop()
    })
  })

  it('releases what a cancelled job has reserved although the first attempt fails', async () => {
    let id: string | undefined
    let cancelled: Promise<unknown> | undefined
    let attempts = 0
    const failingOnce: typeof rules.releaseEntries = async (...parameters) => {
      if (++attempts === 1) throw new Failure('unavailable', 'The disk failed.')
      await rules.releaseEntries(...parameters)
    }
    jobs = createJobs({
      store,
      rules: { ...rules, releaseEntries: failingOnce },
      now: () => 1,
      async pause() {
        await new Promise(setImmediate)
        if (id === undefined || (await rowsOf('index_entries')) === 0) return
        cancelled ??= jobs.cancel(where.database, id, START)
        await cancelled
      },
      onError: (error) => errors.push(error),
    })
    async function* parts() {
      const list = some(COUNT).map((each) => ({ id: each.id, body: JSON.stringify(each) }))
      for (let at = 0; at < list.length; at += 250) yield list.slice(at, at + 250)
    }
    const created = await jobs.create(where, parts(), true)
    if ('job' in created) id = created.job
    await expect
      .poll(() => store.db.selectFrom('jobs').select('state').execute())
      .toEqual([{ state: 'cancelled' }])
    expect(attempts).toBeGreaterThan(1)
    expect(errors).toMatchObject([{ code: 'unavailable' }])
    await create({ n: 17 })
    await expectConsistent()
    await jobs.stop()
  })

  it('releases at the start what a killed process has reserved', async () => {
    const repository = createJobRepository(store, () => 0)
    const job = await repository.create({
      where,
      kind: 'create',
      state: 'preparing',
      request: { filter: [] },
    })
    const [document] = some(1).map((each) => ({ id: each.id, body: JSON.stringify(each) }))
    assert(document !== undefined)
    await repository.stage(job, [{ ...document, seen: '', tag: 't' }])
    await store.transaction((trx) => rules.reserveEntries(trx, where, [document]))
    await expect(create({ n: 0 })).rejects.toEqual(notUnique)
    await jobs.restore()
    await create({ n: 0 })
    await expectConsistent()
  })

  it.each(['create', 'patch'] as const)(
    'releases what a %s has reserved before a restart, if a new schema rejects it',
    async (kind) => {
      const repository = createJobRepository(store, () => 0)
      const patch = kind === 'patch' ? { patch: '{"n":0}' } : {}
      const request = { filter: [], schema: null, ...patch }
      const job = await repository.create({ where, kind, state: 'attached', request })
      const document = { id: 'd10000', body: '{"id":"d10000","n":0}' }
      const step = { scanned: 1, cursor: document.id, found: 1 }
      const staged = [{ ...document, seen: kind === 'patch' ? 's' : '', tag: 't' }]
      await repository.begin(await repository.advance(job, { ...step, staged }))
      await store.transaction((trx) => rules.reserveEntries(trx, where, [document]))
      await expect(create({ n: 0 })).rejects.toEqual(notUnique)
      const validate = async () => {
        throw new Failure('invalid', 'n must be positive')
      }
      const restarted = createJobs({
        store,
        now: () => 1,
        pause: async () => {},
        rules: createTestRules(() => 0, {
          schemaOf: async () => ({ tag: 'new', validate }),
        }),
        onError: (error) => errors.push(error),
      })
      restarted.wake()
      const read = () => restarted.read(where.database, job.id)
      await expect.poll(read).toMatchObject({ state: 'failed', failure: { code: 'invalid' } })
      await create({ n: 0 })
      await expectConsistent()
      await restarted.stop()
    },
  )

  it('releases what a patch has reserved before a restart, if it fails for a later document', async () => {
    const repository = createJobRepository(store, () => 0)
    const request = { filter: [], schema: null, patch: '{"n":0}' }
    const job = await repository.create({ where, kind: 'patch', state: 'attached', request })
    const document = { id: 'd10000', body: '{"id":"d10000","n":0}' }
    const step = { scanned: 1, cursor: document.id, found: 1 }
    const staged = [{ ...document, seen: 's', tag: 't' }]
    await repository.begin(await repository.advance(job, { ...step, staged }))
    await store.transaction((trx) => rules.reserveEntries(trx, where, [document]))
    await create({ id: 'e', fixed: true })
    const restarted = createJobs({
      store,
      now: () => 1,
      pause: async () => {},
      rules: {
        ...rules,
        merger: async () => () => Promise.reject(new Failure('invalid', 'It is fixed.')),
      },
      onError: (error) => errors.push(error),
    })
    restarted.wake()
    const read = () => restarted.read(where.database, job.id)
    await expect.poll(read).toMatchObject({ state: 'failed', failure: { code: 'invalid' } })
    await create({ n: 0 })
    await expectConsistent()
    await restarted.stop()
  })

  it('accepts the value of a document whose deletion is committed', async () => {
    await createArray(some(COUNT))
    await applied()
    const last = { id: 'new', n: COUNT - 1 }
    let creating: Promise<unknown> | undefined
    between = async () => {
      const listed = await documents.readInIdOrder(where, [], undefined, 1, {
        batches: 1,
        reserve: async () => {},
      })
      if (listed.returned === 0) creating ??= create(last)
    }
    expect(await jobs.run(where, 'delete', { filter: [] })).toBe(COUNT)
    await applied()
    expect(creating).toBeDefined()
    await creating
    expect(JSON.parse((await documents.read({ ...where, id: 'new' }, ANY)).body)).toEqual(last)
    await expectConsistent()
  })

  it.each([
    ['values that are not unique', '{"m":1}'],
    ['unique values', '{"n":null}'],
  ])('changes %s in steps', async (_, patch) => {
    await createArray(some(COUNT))
    await applied()
    let isUnapplied = false
    between = async () => {
      isUnapplied ||= store.collectionWrites?.unapplied(where) !== undefined
    }
    expect(await jobs.run(where, 'patch', { filter: [], patch })).toBe(COUNT)
    await applied()
    expect(isUnapplied).toBe(true)
    await expectConsistent()
  })

  describe('a patch of values in a unique index', () => {
    const patch = '{"m":1}'
    const run = () => jobs.run(where, 'patch', { filter: [['n:lt', String(COUNT)]], patch })
    const update = (id: string, change: object) =>
      documents.patch({ ...where, id }, JSON.stringify(change), ANY)
    const pairTaken = expect.objectContaining({
      details: expect.objectContaining({ index: 'pair' }),
    })

    beforeEach(async () => {
      await indexes.put(where, 'pair', ['m', 'n'], true)
      await indexes.delete(where, 'sole')
      await indexes.build()
      await createArray(some(COUNT))
      await applied()
    })

    it('releases what it has reserved later, if the disk was full for a moment', async () => {
      const before = await rowsOf('index_entries')
      // The reservation fails, and then its release.
      fillDisk(before + 500, 2)
      await expect(run()).rejects.toMatchObject({ code: 'insufficient-storage' })
      expect(await rowsOf('index_entries')).toBeGreaterThan(before)
      await applied()
      expect(await rowsOf('index_entries')).toBe(before)
      await jobs.stop()
    })

    it('lets other writes through, follows them, and keeps its values from them', async () => {
      let step = 0
      let rejected = 0
      between = async () => {
        const n = ++step
        const late = `d${10_000 + COUNT - n}`
        // Before the commit, the job follows such changes; after it, it is applied to them first.
        await update(late, { n: COUNT - n - 0.5 })
        await create({ m: 2, n })
        const reserved = await store.db
          .selectFrom('index_entries')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        if (reserved.count < 2 * COUNT) return
        await expect(create({ m: 1, n: 0 })).rejects.toEqual(pairTaken)
        rejected++
      }
      expect(await run()).toBe(COUNT)
      await applied()
      expect(step).toBeGreaterThan(20)
      expect(rejected).toBeGreaterThan(0)
      const found = await documents.readInIdOrder(where, [['m', '1']], undefined, 1_000)
      expect(found.returned).toBe(1_000)
      await expectConsistent()
    })

    it('fails if a document has one of the values, and releases those it has reserved', async () => {
      await create({ id: 'rival', m: 1, n: COUNT - 1 })
      await expect(run()).rejects.toEqual(pairTaken)
      await create({ m: 1, n: 0 })
      await expectConsistent()
    })

    it('frees the values that documents had, once it is committed', async () => {
      const last = `d${10_000 + COUNT - 1}`
      await update(last, { m: 7 })
      let creating: Promise<unknown> | undefined
      between = async () => {
        if (store.collectionWrites?.unapplied(where) === undefined) return
        creating ??= create({ id: 'next', m: 7, n: COUNT - 1 })
      }
      await run()
      await applied()
      expect(creating).toBeDefined()
      await creating
      await expectConsistent()
    })

    it('is released at the start after its request ended with a killed process', async () => {
      const repository = createJobRepository(store, () => 0)
      const job = await repository.create({
        where,
        kind: 'patch',
        state: 'attached',
        request: { filter: [], patch },
      })
      const document = { id: 'd10000', body: '{"id":"d10000","n":0,"m":1}' }
      const step = { scanned: 1, cursor: document.id, found: 1 }
      const staged = [{ ...document, seen: 's', tag: 't' }]
      await repository.advance(job, { ...step, staged })
      await store.transaction((trx) => rules.reserveEntries(trx, where, [document]))
      await expect(create({ m: 1, n: 0 })).rejects.toEqual(pairTaken)
      await jobs.restore()
      await applied()
      await create({ m: 1, n: 0 })
      await expectConsistent()
    })
  })
})
