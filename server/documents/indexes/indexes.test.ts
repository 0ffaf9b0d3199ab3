import assert from 'node:assert/strict'
import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import type { Documents } from '../documents.ts'
import { idsOn } from '../find/ids-on-page.testing.ts'
import { parseDocumentQuery } from '../query/query.ts'
import { openIndexesOf } from './build/build-indexes.testing.ts'
import { buildStep, Contended } from './build/builder.ts'
import { openIndexedDocuments } from './build/indexed-documents.testing.ts'
import { expectEntriesOfDocuments } from './write/stored-entries.testing.ts'

const where = { database: 'db', collection: 'articles' }
const ANY = { match: undefined, noneMatch: undefined }
/** More documents than one step of a job changes. */
const LARGE = 4_100

forEachEngine((engine) => {
  let store: Store
  let opened: ReturnType<typeof openIndexedDocuments>
  let documents: Documents
  let indexes: typeof opened.indexes
  let jobs: Jobs
  let errors: unknown[]
  /** Called between two steps of a job. */
  let between: () => Promise<unknown>

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    between = async () => {}
    opened = openIndexedDocuments(store, () => between())
    ;({ jobs, documents, indexes, errors } = opened)
  })

  const ref = (id: string) => ({ ...where, id })
  const create = (document: object) => documents.create(where, JSON.stringify(document))
  const createArray = (list: readonly object[]) => opened.createArray(where, list)
  const ifAbsent = (error: unknown) => expect(error).toMatchObject({ code: 'not-found' })
  const some = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ id: `d${10_000 + n}`, n, author: `a${n % 7}` }))
  const states = async () =>
    (await indexes.list(where)).map(({ name, state }) => `${name} ${state}`)
  const change = (kind: 'patch' | 'delete', request: Parameters<Jobs['change']>[2]) =>
    jobs.change(where, kind, request, 'caller', new AbortController().signal)

  const expectConsistent = () => expectEntriesOfDocuments(store)

  async function idsOf(query: string) {
    const page = await documents.find(where, parseDocumentQuery(new URLSearchParams(query)), {
      count: false,
      reserve: async () => {},
      signal: () => new AbortController().signal,
    })
    return { ids: idsOn(page), index: page.index, scanned: page.scanned }
  }

  describe('maintenance', () => {
    it.each(['ready', 'building'])('follows every write while an index is %s', async (state) => {
      await createArray(some(20))
      await indexes.put(where, 'by-author', ['author', '-n'])
      await indexes.put(where, 'by-n', ['n'])
      if (state === 'ready') await indexes.build()
      await create({ id: 'one', n: 1, author: 'ada' })
      await documents.createAt(ref('two'), '{"n":2}')
      await documents.replace(ref('one'), '{"n":"1"}', ANY)
      await documents.patch(ref('two'), '{"author":"ada"}', ANY)
      await documents.delete(ref('d10003'), ANY)
      await change('patch', { filter: [['author', 'a1']], patch: '{"n":5}' })
      await change('delete', { filter: [['author', 'a2']] })
      await createArray([{ id: 'three', author: 'b' }, { id: 'four' }])
      if (state === 'building') await indexes.build()
      await expectConsistent()
      expect(await idsOf('author=ada')).toEqual({ ids: ['two'], index: 'by-author', scanned: 1 })
      expect((await idsOf('n=1')).ids).toEqual(['one'])
    })

    it('follows indexes that are created and deleted between two inserts', async () => {
      for (const [name, field] of [
        ['one', 'a'],
        ['two', 'b'],
        ['three', 'c'],
      ] as const) {
        await indexes.put(where, name, [field])
        await create({ id: name, a: 1, b: 2, c: 3 })
        await create({ id: `${name}-again`, a: 1, b: 2, c: 3 })
      }
      await indexes.delete(where, 'two')
      await indexes.put(where, 'four', ['b', 'c'])
      await create({ id: 'four', a: 1, b: 2, c: 3 })
      await indexes.build()
      await create({ id: 'five', a: 1, b: 2, c: 3 })
      await expectConsistent()
      const ids = await store.db.selectFrom('index_entries').select('index_id').distinct().execute()
      expect(ids).toHaveLength(3)
    })

    it('stores no document twice', async () => {
      await indexes.put(where, 'one', ['a'])
      for (const id of ['first', 'again']) await create({ id, a: 1 })
      await expect(create({ id: 'again', a: 2 })).rejects.toMatchObject({ code: 'conflict' })
      await indexes.build()
      await expectConsistent()
    })

    it('stores no document in a dropped database', async () => {
      await indexes.put(where, 'one', ['a'])
      for (const id of ['first', 'second']) await create({ id, a: 1 })
      await store.db.deleteFrom('databases').where('id', '=', 'db').execute()
      await expect(create({ a: 2 })).rejects.toMatchObject({ code: 'database-not-found' })
    })

    it('follows jobs and concurrent writes', async () => {
      await indexes.put(where, 'by-author', ['author'])
      await indexes.build()
      await createArray(some(LARGE))
      let writes = 0
      between = async () => {
        if (writes === 20) return
        const id = `d${10_000 + 200 * writes++}`
        await documents.patch(ref(id), `{"author":"w${writes}"}`, ANY).catch(ifAbsent)
      }
      const ended = async (kind: 'patch' | 'delete', patch?: string) => {
        const { id } = await jobs.begin(where, kind, { filter: [], ...(patch && { patch }) })
        await expect.poll(async () => (await jobs.read('db', id)).state).toBe('done')
        // A write may follow the last step.
        await vi.waitFor(expectConsistent)
      }
      await ended('patch', '{"on":true,"author":"x"}')
      await ended('delete')
      expect(writes).toBeGreaterThan(4)
      await jobs.stop()
      expect(errors).toEqual([])
    })

    it('follows writes during a build', async () => {
      await createArray(some(900))
      await indexes.put(where, 'by-author', ['author'])
      const building = indexes.build()
      for (let n = 0; n < 300; n++) {
        const id = `d${10_000 + ((n * 37) % 900)}`
        await documents.patch(ref(id), `{"author":"w${n}"}`, ANY).catch(ifAbsent)
        if (n % 3 === 0) await create({ id: `e${n}`, author: 'new' })
        if (n % 7 === 0) await documents.delete(ref(`d${10_899 - n}`), ANY).catch(ifAbsent)
      }
      await building
      expect(await states()).toEqual(['by-author ready'])
      await expectConsistent()
    })

    it('drops the indexes of dropped databases, however many there are', async () => {
      await store.db.deleteFrom('databases').where('id', '=', where.database).execute()
      const rows = JSON.stringify(Array.from({ length: 33_000 }, (_, n) => n + 1))
      const ids =
        engine.name === 'sqlite'
          ? sql`json_each(${rows})`
          : sql`json_array_elements_text(cast(${rows} as json)) as each(value)`
      await sql`
        insert into document_indexes
          (id, database, collection, name, fields, is_unique, state, done, created_at)
        select cast(value as bigint), ${where.database}, 'c' || value, 'i', '["n"]', 0, 'ready', 0, 0
        from ${ids}`.execute(store.db)
      await indexes.repository.dropOrphans()
      const left = store.db.selectFrom('document_indexes').select('id').where('state', '=', 'ready')
      expect(await left.execute()).toEqual([])
    })

    it('deletes the entries of a deleted index, and of a dropped database', async () => {
      await createArray(some(1_500))
      await indexes.put(where, 'one', ['n'])
      await indexes.put(where, 'two', ['author'])
      await indexes.build()
      await indexes.delete(where, 'one')
      expect(await states()).toEqual(['two ready'])
      await indexes.build()
      await expectConsistent()
      await store.db.deleteFrom('databases').where('id', '=', 'db').execute()
      await indexes.repository.dropOrphans()
      await indexes.build()
      expect(await store.db.selectFrom('document_indexes').select('id').execute()).toEqual([])
      expect(await store.db.selectFrom('index_entries').select('id').execute()).toEqual([])
    })
  })

  describe('builds', () => {
    it('are continued by another process where one has stopped', async () => {
      await createArray(some(1_000))
      await indexes.put(where, 'by-n', ['n'])
      const [row] = await store.db.selectFrom('document_indexes').selectAll().execute()
      assert(row !== undefined)
      const next = await buildStep(store, { ...row, total: 1_000 }, 'e')
      expect(next?.done).toBe(250)
      expect(await indexes.list(where)).toMatchObject([{ state: 'building', progress: 0.25 }])
      expect((await idsOf('n=5')).index).toBeUndefined()
      // The loop that is behind changes nothing.
      await expect(buildStep(store, row, 'e')).rejects.toThrow()
      await indexes.build()
      expect(await indexes.list(where)).toMatchObject([{ state: 'ready', progress: null }])
      expect(await idsOf('n=5')).toEqual({ ids: ['d10005'], index: 'by-n', scanned: 1 })
      await expectConsistent()
    })
  })

  if (engine.name === 'postgres') {
    it('builds an index without waiting for documents that are locked, and omits none', async () => {
      await createArray(some(3))
      await indexes.put(where, 'by-n', ['n'])
      const [row] = await store.db.selectFrom('document_indexes').selectAll().execute()
      assert(row !== undefined)
      const other = new pg.Client((engine.location() as { databaseUrl: string }).databaseUrl)
      await other.connect()
      await other.query(`begin; select 1 from documents where id = 'd10001' for update`)
      await expect(buildStep(store, row, 'e')).rejects.toThrow(Contended)
      await other.end()
      await indexes.build()
      await expectConsistent()
    })

    it('deletes a unique index while another node builds it again', async () => {
      await createArray([
        { id: 'a', v: 1 },
        { id: 'b', v: 1 },
      ])
      const other = openIndexesOf(await engine.open())
      for (let round = 0; round < 20; round++) {
        await indexes.put(where, 'by-v', ['v'], true)
        await indexes.build()
        const again = indexes.put(where, 'by-v', ['v'], true)
        await Promise.all([again, other.delete(where, 'by-v')])
      }
    })
  }

  it('indexes few documents in a step, and fewer if they are large', async () => {
    const large = 'x'.repeat(100 * 1024)
    await createArray([...some(300), ...['e1', 'e2', 'e3', 'e4'].map((id) => ({ id, large }))])
    await indexes.put(where, 'by-n', ['n'])
    const done: number[] = []
    let [row] = await store.db.selectFrom('document_indexes').selectAll().execute()
    while (row !== undefined) {
      done.push(row.done)
      row = await buildStep(store, row, 'f')
    }
    expect(done).toEqual([0, 250, 302, 304])
  })

  it('reports a build that ends because a job has found duplicates', async () => {
    await createArray(some(3))
    const failed = store.db.updateTable('document_indexes').set({ state: 'failed' })
    let ended = 0
    const { builder, put } = openIndexesOf(store, {
      stepLimits: { documents: 1, bytes: 1024 },
      pause: () => failed.execute(),
      onEnded: () => ended++,
    })
    await put(where, 'by-n', ['n'], true)
    builder.wake()
    await expect.poll(() => ended).toBe(1)
    await builder.stop()
  })

  it('ends a build while documents are created at the end of the collection', async () => {
    await createArray(some(600))
    await indexes.put(where, 'by-n', ['n'])
    let isBuilt = false
    const building = indexes.build().then(() => {
      isBuilt = true
    })
    for (let n = 0; !isBuilt; n++) await create({ id: `e${10_000 + n}`, n })
    await building
    expect(await states()).toEqual(['by-n ready'])
    await expectConsistent()
  })

  describe('unique', () => {
    const conflict = (index: string, document: string) => ({
      code: 'conflict',
      details: { index, document },
    })

    it.each(['ready', 'building'])('rejects a second document while it is %s', async (state) => {
      await indexes.put(where, 'by-email', ['email'], true)
      if (state === 'ready') await indexes.build()
      await create({ id: 'one', email: 'a@b' })
      await expect(create({ id: 'two', email: 'a@b' })).rejects.toMatchObject(
        conflict('by-email', 'one'),
      )
      await create({ id: 'two' })
      await create({ id: 'three' })
      for (const write of [documents.replace, documents.patch]) {
        await expect(write(ref('two'), '{"email":"a@b"}', ANY)).rejects.toMatchObject(
          conflict('by-email', 'one'),
        )
      }
      await expect(
        createArray([{ id: 'four' }, { id: 'five', email: 'a@b' }]),
      ).rejects.toMatchObject({ details: { field: '/1/email', document: 'one' } })
      const patch = change('patch', { filter: [], patch: '{"email":"c@d"}' })
      await expect(patch).rejects.toMatchObject({ code: 'conflict' })
      await documents.patch(ref('one'), '{"email":null}', ANY)
      await create({ id: 'six', email: 'a@b' })
      await documents.delete(ref('six'), ANY)
      await create({ id: 'seven', email: 'a@b' })
      await indexes.build()
      expect(await states()).toEqual(['by-email ready'])
      await expectConsistent()
    })

    it('rejects a large array with a duplicate, all of it', async () => {
      await indexes.put(where, 'by-n', ['n'], true)
      await indexes.build()
      const list = [...some(LARGE), { id: 'last', n: 17, author: '' }]
      await expect(createArray(list)).rejects.toMatchObject(conflict('by-n', 'd10017'))
      expect((await idsOf('')).ids).toEqual([])
      await expectConsistent()
    })

    it('accepts one of many documents that are created at once', async () => {
      await indexes.put(where, 'by-email', ['email'], true)
      await indexes.build()
      const created = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => create({ id: `d${n}`, email: `${n % 4}` })),
      )
      expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
      for (const each of created) {
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'conflict' })
      }
      await expectConsistent()
    })

    it('compares all of long strings, arrays and objects', async () => {
      const long = 'x'.repeat(2_000)
      await indexes.put(where, 'by-v', ['v'], true)
      for (const [at, v] of [`${long}a`, `${long}b`, ['a'], ['b'], { a: 1 }, 1, '1'].entries()) {
        await create({ id: `d${at}`, v })
      }
      await expect(create({ v: `${long}a` })).rejects.toMatchObject(conflict('by-v', 'd0'))
      await expect(create({ v: ['b'] })).rejects.toMatchObject(conflict('by-v', 'd3'))
    })

    it('fails where documents have the same values, and lists them', async () => {
      await createArray([{ id: 'a', v: 1 }, { id: 'b', v: 2 }, { id: 'c', v: 1 }, { id: 'd' }])
      await indexes.put(where, 'by-v', ['v'], true)
      await indexes.build()
      expect(await indexes.list(where)).toMatchObject([
        { state: 'failed', progress: null, duplicates: ['a', 'c'], excluded: 1 },
      ])
      await create({ id: 'e', v: 2 })
      expect(await store.db.selectFrom('index_entries').select('id').execute()).toEqual([])
      expect((await idsOf('v=1')).index).toBeUndefined()
    })

    it('is built again after it has failed, if it is created with the same definition', async () => {
      await createArray([
        { id: 'a', v: 1 },
        { id: 'b', v: 1 },
      ])
      for (let at = 0; at < 15; at++) await indexes.put(where, `i${at}`, ['a'])
      await indexes.put(where, 'by-v', ['v'], true)
      await indexes.build()
      await expect(indexes.put(where, 'by-v', ['v'])).rejects.toMatchObject({ code: 'conflict' })
      await documents.delete(ref('b'), ANY)
      expect(await indexes.put(where, 'by-v', ['v'], true)).toMatchObject({
        created: false,
        index: { state: 'building', duplicates: [], excluded: 0 },
      })
      await indexes.build()
      expect(await indexes.list(where)).toContainEqual(
        expect.objectContaining({ name: 'by-v', state: 'ready' }),
      )
      expect((await idsOf('v=1')).index).toBe('by-v')
      await expect(create({ v: 1 })).rejects.toMatchObject(conflict('by-v', 'a'))
    })
  })

  it('lists duplicates of the whole collection, and counts them', async () => {
    const list = some(900)
    await createArray(list.map(({ id, n }) => ({ id, v: n < 600 ? n : 0 })))
    await indexes.put(where, 'by-v', ['v'], true)
    await indexes.build()
    const [failed] = await indexes.list(where)
    const ids = ['d10000', ...list.slice(600, 699).map(({ id }) => id)]
    expect(failed).toMatchObject({ state: 'failed', duplicates: ids, excluded: 300 })
    expect(await store.db.selectFrom('index_entries').select('id').execute()).toEqual([])
  })

  describe('definitions', () => {
    it('cannot be changed without deleting them first', async () => {
      const first = await indexes.put(where, 'by-a', ['a\\.b', '-c'])
      expect(first).toMatchObject({ created: true, index: { fields: ['a\\.b', '-c'] } })
      expect(await indexes.put(where, 'by-a', ['a\\.b', '-c'])).toMatchObject({ created: false })
      await expect(indexes.put(where, 'by-a', ['a'])).rejects.toMatchObject({ code: 'conflict' })
      await indexes.delete(where, 'by-a')
      expect(await indexes.put(where, 'by-a', ['a'])).toMatchObject({ created: true })
      await indexes.build()
      expect(await indexes.list(where)).toMatchObject([{ name: 'by-a', fields: ['a'] }])
    })

    it('are limited for each collection', async () => {
      for (let at = 0; at < 16; at++) await indexes.put(where, `i${at}`, ['a'])
      await expect(indexes.put(where, 'more', ['a'])).rejects.toMatchObject({ code: 'conflict' })
      await indexes.put({ ...where, collection: 'others' }, 'more', ['a'])
    })

    it.each([
      ['By-A', ['a'], 'name'],
      ['by-a', ['a,b'], '/fields/0'],
      ['by-a', ['a', ''], '/fields/1'],
      ['by-a', ['a', '-a'], '/fields/1'],
      ['by-a', ['a\\x'], '/fields/0'],
    ])('name the rejected part: %s %j', async (name, fields, field) => {
      await expect(indexes.put(where, name, fields)).rejects.toMatchObject({
        code: 'bad-parameter',
        details: { field },
      })
    })
  })
})
