import assert from 'node:assert/strict'
import { beforeEach, describe, expect, it } from 'vitest'
import { createDocumentRules } from '../../documents/document-rules.ts'
import { createDocuments, type Documents } from '../../documents/documents.ts'
import { openIndexesOf } from '../../documents/indexes/build/build-indexes.testing.ts'
import { toDefinition } from '../../documents/indexes/definition.ts'
import { keyOfValues, valuesOf } from '../../documents/indexes/index-key.ts'
import { createDocumentRepository } from '../../documents/repository/repository.ts'
import type { Store } from '../../storage/open.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createJobs, type Jobs } from '../jobs.ts'
import { createJobRepository } from '../repository.ts'

const where = { database: 'db', collection: 'articles' }
const ANY = { match: undefined, noneMatch: undefined }
/** More documents than one transaction changes. */
const COUNT = 4_100
const rules = createDocumentRules(() => 0)

forEngine('sqlite', (engine) => {
  let store: Store
  let jobs: Jobs
  let documents: Documents
  let indexes: ReturnType<typeof openIndexesOf>
  let errors: unknown[]
  /** Called between two steps. */
  let between: () => Promise<unknown>

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    errors = []
    between = async () => {}
    jobs = createJobs({
      ...{ store, rules, now: () => 0 },
      pause: async () => {
        await new Promise(setImmediate)
        await between()
      },
      onError: (error) => errors.push(error),
    })
    documents = createDocuments(createDocumentRepository(store), () => 0, undefined, jobs)
    indexes = openIndexesOf(store)
    await indexes.put(where, 'sole', ['n'], true)
    await indexes.build()
  })

  const some = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `d${10_000 + n}`, n }))
  const create = (document: object) => documents.create(where, JSON.stringify(document))
  async function createArray(list: readonly object[]): Promise<void> {
    async function* parts() {
      for (let at = 0; at < list.length; at += 250) {
        yield list.slice(at, at + 250).map((each) => JSON.stringify(each))
      }
    }
    const created = await documents.createMany(where, parts(), false)
    if ('release' in created) created.release()
  }
  const applied = () =>
    expect
      .poll(() => store.db.selectFrom('jobs').select('state').execute(), { timeout: 20_000 })
      .toEqual([])
  const rowsOf = async (table: 'documents' | 'index_entries') =>
    (await store.db.selectFrom(table).select('id').execute()).length
  const notUnique = expect.objectContaining({
    code: 'conflict',
    details: expect.objectContaining({ index: 'sole' }),
  })

  /** Checks that the index has exactly the entries of the stored documents. */
  async function expectConsistent(): Promise<void> {
    const [row] = await store.db.selectFrom('document_indexes').selectAll().execute()
    assert(row?.state === 'ready')
    const { fields } = toDefinition(row)
    const stored = await store.db.selectFrom('documents').select(['id', 'body']).execute()
    const entries = await store.db.selectFrom('index_entries').select(['id', 'key']).execute()
    const print = (key: Uint8Array, id: string) => `${Buffer.from(key).toString('hex')} ${id}`
    expect(entries.map(({ key, id }) => print(key, id)).sort()).toEqual(
      stored
        .map(({ id, body }) =>
          print(keyOfValues(valuesOf(JSON.parse(body), fields), fields).bytes, id),
        )
        .sort(),
    )
    expect(errors).toEqual([])
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

  it('releases at the start what a killed process has reserved', async () => {
    const repository = createJobRepository(store, () => 0)
    const job = await repository.create(where, 'create', 'preparing', { filter: [] })
    const [document] = some(1).map((each) => ({ id: each.id, body: JSON.stringify(each) }))
    assert(document !== undefined)
    await repository.stage(job, [{ ...document, seen: '', tag: 't' }])
    await store.transaction((trx) => rules.reserveEntries(trx, where, [document]))
    await expect(create({ n: 0 })).rejects.toEqual(notUnique)
    await jobs.restore()
    await create({ n: 0 })
    await expectConsistent()
  })

  it('accepts the value of a document whose deletion is committed', async () => {
    await createArray(some(COUNT))
    await applied()
    const last = { id: 'new', n: COUNT - 1 }
    let creating: Promise<unknown> | undefined
    between = async () => {
      const listed = await documents.page(where, [], undefined, 1, {
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
    ['other values in steps', '{"m":1}', true],
    ['unique values in one transaction', '{"n":null}', false],
  ])('changes %s', async (_, patch, isInSteps) => {
    await createArray(some(COUNT))
    await applied()
    let isUnapplied = false
    between = async () => {
      isUnapplied ||= store.collectionWrites?.unapplied(where) !== undefined
    }
    expect(await jobs.run(where, 'patch', { filter: [], patch })).toBe(COUNT)
    await applied()
    expect(isUnapplied).toBe(isInSteps)
    await expectConsistent()
  })
})
