import { CompiledQuery, sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import type { Store } from '../../../storage/store.ts'
import { testCaller } from '../../../storage/test-support/caller.testing.ts'
import { storeDatabases } from '../../../storage/test-support/databases.testing.ts'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createTestDocuments } from '../../documents.testing.ts'
import type { Documents } from '../../documents.ts'
import { parseDocumentQuery } from '../../query/query.ts'
import { createDocumentRepository } from '../../repository/stored-documents.ts'
import { openIndexesOf } from '../build/build-indexes.testing.ts'

const where = { database: 'db', collection: 'articles' }
const ANY = { match: undefined, noneMatch: undefined }
const IDS = ['3', '1', '4', '2', '5']

forEngine('postgres', (engine) => {
  let store: Store
  let documents: Documents
  /** The statements that read pages. */
  let statements: {
    readonly query: CompiledQuery
    /** Number of documents that it returned. */
    readonly returned: number
    /** Whether it reads other pages too. */
    readonly isShared: boolean
  }[]

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db', 'other')
    const repository = createDocumentRepository({
      ...store,
      prepareLookup(query, bounds) {
        const lookUp = store.prepareLookup(query, bounds)
        if (!query.sql.includes('index_entries')) return lookUp
        return async (...parameters) => {
          const result = await lookUp(...parameters)
          const [{ tags }] = result.rows as unknown as [{ tags: string | null }]
          statements.push({
            query: CompiledQuery.raw(query.sql, [...parameters]),
            returned: tags?.split('\n').length ?? 0,
            isShared: bounds?.rows !== 1,
          })
          return result
        }
      },
    })
    documents = createTestDocuments({ repository, now: () => 0 })
    const indexes = openIndexesOf(store)
    await indexes.put(where, 'by-n', ['a', 'n'])
    await indexes.build()
    for (const [n, id] of IDS.entries()) {
      const document = { id, a: 'x', n }
      await documents.create(where, JSON.stringify(document))
      await documents.create({ ...where, collection: 'others' }, JSON.stringify({ id }))
      await documents.create({ ...where, database: 'other' }, JSON.stringify({ id }))
    }
  })

  async function bodiesOf(sort: string): Promise<unknown> {
    statements = []
    const query = parseDocumentQuery(new URLSearchParams(`a=x&sort=${sort}&limit=4`))
    const page = await documents.find(where, query, {
      count: false,
      reserve: () => undefined,
      caller: () => testCaller(),
    })
    expect(page.tags.split('\n')).toHaveLength(4)
    const { json } = page
    return JSON.parse(typeof json === 'string' ? json : Buffer.concat(json).toString())
  }

  const documentsOf = (changed: Readonly<Record<string, object>> = {}) =>
    IDS.map((id, n) => ({ id, a: 'x', n, ...changed[id] }))

  /**
   * @param maxStatements maximum number of statements that read a page.
   * @param isShared whether the last of them reads other pages too.
   */
  async function expectPages(
    maxStatements: number,
    changed?: Readonly<Record<string, object>>,
    isShared = true,
  ) {
    const all = documentsOf(changed)
    for (const [sort, expected] of [
      ['n', all],
      ['-n', all.toReversed()],
    ] as const) {
      expect(await bodiesOf(sort)).toEqual(expected.slice(0, 4))
      expect(statements.length).toBeLessThanOrEqual(maxStatements)
      expect(statements.at(-1)?.isShared).toBe(isShared)
      // The last statement returned each document once.
      expect(statements.at(-1)?.returned).toBe(4)
    }
  }

  /** Returns how many documents the last statement read at locations, and how many by their ids. */
  async function readsOfDocuments(): Promise<{ located: number; searched: number }> {
    const query = statements.at(-1)?.query as CompiledQuery
    const { rows } = await store.db.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      CompiledQuery.raw(`explain (analyze, format json) ${query.sql}`, [...query.parameters]),
    )
    const nodes = nodesOf((rows[0] as (typeof rows)[0])['QUERY PLAN'][0].Plan)
    const read = (type: RegExp) =>
      nodes
        .filter((node) => type.test(node['Node Type']) && node['Relation Name'] === 'documents')
        .reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0)
    return { located: read(/^Tid Scan$/), searched: read(/^Index/) }
  }

  it.each(['n', '-n'])('reads a page sorted by %s at the current locations', async (sort) => {
    await bodiesOf(sort)
    expect(statements).toHaveLength(1)
    expect(await readsOfDocuments()).toEqual({ located: 4, searched: 0 })
    await sql`update index_entries set document_ctid = '(99999,1)'`.execute(store.db)
    await bodiesOf(sort)
    expect(await readsOfDocuments()).toEqual({ located: 0, searched: 4 })
  })

  it('omits a document that was deleted without its entries', async () => {
    await sql`
      delete from documents where database = 'db' and collection = 'articles' and id = '1'
    `.execute(store.db)
    const left = documentsOf().filter(({ id }) => id !== '1')
    expect(await bodiesOf('n')).toEqual(left)
    expect(await bodiesOf('-n')).toEqual(left.toReversed())
  })

  const located = (database: string, collection: string, id = sql`index_entries.id`) => sql`(
    select ctid from documents
    where database = ${database} and collection = ${collection} and id = ${id})`

  it.each([
    ['contain no document', sql`'(99999,1)'`],
    ['are unknown', sql`null`],
    ['contain other documents of the collection', located('db', 'articles', sql`'5'`)],
    ['are exchanged', located('db', 'articles', sql`cast(6 - cast(id as integer) as text)`)],
    ['contain documents with the same ids of another collection', located('db', 'others')],
    ['contain documents with the same ids of another database', located('other', 'articles')],
  ])('two statements read a page whose locations %s', async (_, ctid) => {
    for (const ids of [IDS, ['1'], ['3'], ['5', '4']]) {
      await sql`
        update index_entries set document_ctid = (select cast(${ctid} as tid))
        where id = any(${ids})`.execute(store.db)
      await expectPages(2)
    }
  })

  it('three statements read a page whose large documents are not at their locations', async () => {
    const large = { b: 'x'.repeat(3_000) }
    for (const [n, id] of IDS.entries()) {
      const document = { id, a: 'x', n, ...large }
      await documents.replace({ ...where, id }, JSON.stringify(document), ANY)
    }
    const changed = Object.fromEntries(IDS.map((id) => [id, large]))
    // At their locations, they are not searched before they are read alone.
    await expectPages(2, changed, false)
    await sql`update index_entries set document_ctid = null`.execute(store.db)
    await expectPages(3, changed, false)
  })

  it('reads the current state of documents that were changed without their entries', async () => {
    await sql`
      update documents set tag = 'new', body = '{"id":"1","a":"x","n":1,"b":true}'
      where database = 'db' and collection = 'articles' and id = '1'`.execute(store.db)
    await expectPages(2, { 1: { b: true } })
  })

  it('reads documents after others have taken the places of their earlier states', async () => {
    const replaceAll = async (changed: object) => {
      for (const [n, id] of IDS.entries()) {
        const document = { id, a: 'x', n, ...changed }
        await documents.replace({ ...where, id }, JSON.stringify(document), ANY)
      }
    }
    // PostgreSQL keeps the place of the first state of a row, and reuses those of later ones.
    await replaceAll({ b: 1 })
    await sql`create table kept as select * from index_entries`.execute(store.db)
    await replaceAll({ b: 2 })
    await sql`vacuum documents`.execute(store.db)
    const others = { ...where, collection: 'later' }
    for (const id of IDS) await documents.create(others, JSON.stringify({ id }))
    const { rows } = await sql`
      select documents.id from documents join kept on documents.ctid = kept.document_ctid
      where collection = 'later'`.execute(store.db)
    expect(rows).toHaveLength(IDS.length)
    await sql`
      update index_entries set document_ctid = kept.document_ctid from kept
      where kept.id = index_entries.id`.execute(store.db)
    await expectPages(2, Object.fromEntries(IDS.map((id) => [id, { b: 2 }])))
  })
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
