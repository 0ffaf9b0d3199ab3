import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../../storage/open.ts'
import { RowChanges } from '../../../storage/postgres/batch/row-changes.ts'
import type { Statement } from '../../../storage/postgres/connections/guarded-client.ts'
import { postgresError } from '../../../storage/postgres/postgres-error.ts'
import type { Store } from '../../../storage/store.ts'
import { storeDatabases } from '../../../storage/test-support/databases.testing.ts'
import { makeDatabase } from '../../../storage/test-support/each-engine.testing.ts'
import { onceAwaited } from '../../../storage/test-support/lock-waits.testing.ts'
import { openIndexesOf } from '../../indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../indexes/write/stored-entries.testing.ts'
import { readStored } from '../read-stored.testing.ts'
import {
  createDocumentRepository,
  type DocumentRepository,
  type StoredDocument,
} from '../stored-documents.ts'

const where = { database: 'db', collection: 'articles' }
const refOf = (id: string) => ({ ...where, id })

let database: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let client: pg.Client
let indexes: ReturnType<typeof openIndexesOf>
let repository: DocumentRepository
/** The batched statements. */
let statements: Statement[]
/** Number of transactions. */
let transactions: number

beforeEach(async () => {
  database = await makeDatabase()
  client = new pg.Client(database.databaseUrl)
  await client.connect()
  await client.query('set enable_seqscan = off')
  store = await openStore(database.location, 'tool')
  await storeDatabases(store, 'db')
  indexes = openIndexesOf(store)
  await indexes.put(where, 'by-n', ['n'], true)
  await indexes.put(where, 'by-author', ['author', '-n'])
  await indexes.build()
  const changes = new RowChanges((statement) => {
    statements.push(statement)
    const query = { ...statement, values: [...statement.values], rowMode: 'array' as const }
    return client.query(query).catch((cause: unknown) => {
      throw postgresError(cause)
    })
  })
  repository = createDocumentRepository({
    ...store,
    prepareChange: changes.prepare,
    transaction(...parameters) {
      transactions++
      return store.transaction(...parameters)
    },
  })
})
afterEach(async () => {
  await store.close()
  await client.end()
  await database.remove()
})

interface TestDocument {
  readonly id: string
  readonly n?: number | string
  readonly author?: string
  readonly text?: string
}

const documentOf = (n: number): TestDocument & { readonly n: number } => ({
  id: `d${n}`,
  n,
  author: `${n % 7}`,
})
const some = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => documentOf(from + at))

/** Stores documents in a transaction, from which the repository knows the indexes. */
async function storeAll(documents: readonly TestDocument[]) {
  await repository.insert(
    where,
    documents.map((each) => ({ id: each.id, body: JSON.stringify(each) })),
  )
  statements = []
  transactions = 0
}

/** Checks that all changes since {@link storeAll} were one statement. */
const expectOneStatement = () => expect([statements.length, transactions]).toEqual([1, 0])

const insertAll = (documents: readonly TestDocument[]) =>
  Promise.allSettled(
    documents.map((each) =>
      repository.insert(where, [{ id: each.id, body: JSON.stringify(each) }]),
    ),
  )

/** Replaces stored documents concurrently; returns whether each was, or its conflict. */
async function replaceAll(documents: readonly TestDocument[]) {
  const stored = await Promise.all(documents.map(({ id }) => readStored(repository, refOf(id))))
  const results = await Promise.allSettled(
    documents.map((each, at) =>
      repository.update(refOf(each.id), stored[at] as StoredDocument, JSON.stringify(each)),
    ),
  )
  return results.map((result) =>
    result.status === 'rejected' ? result.reason.details : result.value !== undefined,
  )
}

/** Deletes stored documents concurrently; returns whether each was. */
async function deleteAll(ids: readonly string[]) {
  const stored = await Promise.all(ids.map((id) => readStored(repository, refOf(id))))
  return Promise.all(
    ids.map((id, at) => repository.delete(refOf(id), stored[at] as StoredDocument)),
  )
}

const rival = (document: string) => ({ field: '/n', index: 'by-n', document })

describe('insertions', () => {
  it('of a turn are one statement if one conflicts with a stored document', async () => {
    await storeAll([{ id: 'first' }, { id: 'second' }])
    const documents = some(20)
    await insertAll(documents)
    expectOneStatement()
    await insertAll([...some(20, 20), { id: 'twin', n: 7 }])
    // Only the conflicting document is inserted again, alone.
    expect([statements.length, transactions]).toEqual([2, 1])
  })
})

describe('replacements', () => {
  beforeEach(() => storeAll(some(40)))

  it('of a turn are one statement', async () => {
    const documents = some(40).map((each, at) =>
      at % 2 === 0 ? { ...each, n: at + 100 } : { ...each, text: 'new' },
    )
    expect(await replaceAll(documents)).toEqual(documents.map(() => true))
    expectOneStatement()
    await expectEntriesOfDocuments(store)
  })

  it('are rejected one by one if they conflict with a unique index or a newer state', async () => {
    const old = await readStored(repository, refOf('d0'))
    await replaceAll([{ ...documentOf(0), text: 'newer' }])
    const [stale, replaced] = await Promise.all([
      repository.update(refOf('d0'), old, '{"id":"d0","text":"stale"}'),
      replaceAll([
        { id: 'd1', n: 100 },
        { id: 'd2', n: 30 },
        { id: 'd3', n: 4 },
        { id: 'd4', n: 101 },
        { id: 'd5', n: 102 },
        { id: 'd6', n: 102 },
        { id: 'd7', n: 7, author: 'changed' },
        { id: 'd8', n: 'x'.repeat(2_000) },
        { id: 'd9' },
      ]),
    ])
    expect(stale).toBeUndefined()
    expect(replaced.slice(0, 2)).toEqual([true, rival('d30')])
    // The value of another document of the batch, which frees it.
    expect([true, rival('d4')]).toContainEqual(replaced[2])
    expect(replaced[3]).toBe(true)
    expect([
      [true, rival('d5')],
      [rival('d6'), true],
    ]).toContainEqual(replaced.slice(4, 6))
    expect(replaced.slice(6)).toEqual([true, true, true])
    await expectEntriesOfDocuments(store)
  })

  it('do not divide their batch if one has the values of a stored document', async () => {
    const documents = some(20).map((each) => ({ ...each, n: each.n + 100 }))
    const replaced = await replaceAll([...documents, { ...documentOf(30), n: 31 }])
    expect(replaced).toEqual([...documents.map(() => true), rival('d31')])
    expect([statements.length, transactions]).toEqual([1, 1])
  })

  it('are made once if several replace the same state', async () => {
    const old = await readStored(repository, refOf('d0'))
    const bodies = [200, 201, 202].map((n) => JSON.stringify({ id: 'd0', n }))
    const tags = await Promise.all(bodies.map((body) => repository.update(refOf('d0'), old, body)))
    expect(tags.filter((tag) => tag !== undefined)).toHaveLength(1)
    const { tag, body } = await readStored(repository, refOf('d0'))
    expect(tags[bodies.indexOf(body)]).toBe(tag)
    await expectEntriesOfDocuments(store)
  })
})

describe('deletions', () => {
  beforeEach(() => storeAll(some(40)))

  it('of a turn are one statement', async () => {
    const ids = some(39).map(({ id }) => id)
    expect(await deleteAll(ids)).toEqual(ids.map(() => true))
    expectOneStatement()
    await expectEntriesOfDocuments(store)
  })

  it('are rejected one by one if the state has changed, and made once', async () => {
    const old = await readStored(repository, refOf('d0'))
    await replaceAll([{ ...documentOf(0), text: 'newer' }])
    const [stale, ...others] = await Promise.all([
      repository.delete(refOf('d0'), old),
      ...[1, 2, 2, 2].map(async (n) => {
        const id = `d${n}`
        return repository.delete(refOf(id), await readStored(repository, refOf(id)))
      }),
    ])
    expect(stale).toBe(false)
    expect([others[0], others.filter(Boolean).length]).toEqual([true, 2])
    await expectEntriesOfDocuments(store)
  })
})

describe.each(['replacements', 'deletions'])('%s', (kind) => {
  const changeAll = (ids: readonly string[]) =>
    kind === 'deletions' ? deleteAll(ids) : replaceAll(ids.map((id) => ({ id, text: 'new' })))

  beforeEach(() => storeAll(some(40)))

  it('are not made in a dropped database', async () => {
    const old = await readStored(repository, refOf('d0'))
    await store.db.deleteFrom('databases').where('id', '=', 'db').execute()
    const change =
      kind === 'deletions'
        ? repository.delete(refOf('d0'), old)
        : repository.update(refOf('d0'), old, '{}')
    await expect(change).rejects.toMatchObject({ code: 'database-not-found' })
    expect(await readStored(repository, refOf('d0'))).toEqual(old)
  })

  it('maintain an index that another node has created', async () => {
    await indexes.put(where, 'by-text', ['text'])
    await indexes.build()
    expect(await changeAll(['d0', 'd1'])).toEqual([true, true])
    await expectEntriesOfDocuments(store)
  })

  it('are made after an index was deleted', async () => {
    await indexes.delete(where, 'by-author')
    await indexes.build()
    expect(await changeAll(['d0', 'd1'])).toEqual([true, true])
    await expectEntriesOfDocuments(store)
  })

  it('wait for a transaction that has locked a document, without delaying the others', async () => {
    const other = await lockDocument('d1', 'for update')
    let isChanged = false
    const locked = changeAll(['d1']).then((changed) => {
      isChanged = true
      return changed
    })
    expect(await changeAll(['d0', 'd2', 'd3'])).toEqual([true, true, true])
    expect(isChanged).toBe(false)
    await other.end()
    expect(await locked).toEqual([true])
    await expectEntriesOfDocuments(store)
  })

  it('are made after a short wait for a lock', async () => {
    const other = await lockDocument('d1', 'for update')
    const changing = changeAll(['d0', 'd1', 'd2'])
    await untilAwaited(other)
    await other.end()
    expect(await changing).toEqual([true, true, true])
    await expectEntriesOfDocuments(store)
  })

  it('remove the entry that a build adds while they wait for its lock', async () => {
    await indexes.put(where, 'by-text', ['text'])
    await storeAll(some(2, 40))
    const other = await lockDocument('d0', 'for share')
    const changing = changeAll(['d0'])
    await untilAwaited(other)
    await other.query(`
      insert into index_entries (index_id, key, id)
      select document_indexes.id, '\\x01', documents.id
      from document_indexes, documents where name = 'by-text' and documents.id = 'd0'`)
    await other.query('commit')
    await other.end()
    expect(await changing).toEqual([true])
    await indexes.build()
    await expectEntriesOfDocuments(store)
  })
})

it('a replacement does not wait for a transaction that removes its values from another document', async () => {
  await storeAll(some(3))
  const other = await lockDocument('d2', 'for update')
  await other.query("delete from index_entries where id = 'd2' and sole is not null")
  expect(await replaceAll([{ id: 'd1', n: 2 }])).toEqual([rival('d2')])
  await other.query('rollback')
  await other.end()
  await expectEntriesOfDocuments(store)
})

it('an insertion in a deadlock is repeated', async () => {
  await storeAll(some(3))
  const other = await lockDocument('d2', 'for update')
  // The change waits for the value of this document, and then this transaction for the change.
  await other.query("delete from index_entries where id = 'd2' and sole is not null")
  const changing = failureOf(insertAll([{ id: 'new', n: 2 }]))
  // PostgreSQL then ends the transaction of the change.
  await other.query("set local deadlock_timeout = '30s'")
  await other.query(
    onceAwaited(`
      insert into documents values ('${where.database}', '${where.collection}', 'new', '', '{}')
      on conflict (database, collection, id) do update set tag = documents.tag`),
  )
  await other.query('rollback')
  await other.end()
  expect(await changing).toEqual(rival('d2'))
  await expectEntriesOfDocuments(store)
})

/** Returns the conflict of the only change. */
async function failureOf(changing: Promise<PromiseSettledResult<unknown>[]>): Promise<unknown> {
  const [result] = await changing
  return result?.status === 'rejected' ? result.reason.details : result?.value
}

/** Begins a transaction that locks a document; its end releases the lock. */
async function lockDocument(id: string, mode: 'for share' | 'for update'): Promise<pg.Client> {
  const other = new pg.Client(database.databaseUrl)
  await other.connect()
  await other.query('begin')
  await other.query(`select 1 from documents where id = '${id}' ${mode}`)
  return other
}

/** Waits until a change waits for a transaction. */
const untilAwaited = (other: pg.Client) => other.query(onceAwaited('null'))

describe('the statement of', () => {
  const changes: Record<string, (at: number) => Promise<unknown>> = {
    insertions: (at) => insertAll(some(2, 100 + 2 * at)),
    replacements: (at) => replaceAll(some(2, 2 * at)),
    deletions: (at) => deleteAll(some(2, 2 * at).map(({ id }) => id)),
  }
  const cases = Object.keys(changes).flatMap((kind) => [0, 20_000].map((count) => [kind, count]))

  it.each(cases as [string, number][])(
    '%s finds rows by keys and locations, after it was prepared for %i other documents',
    async (kind, count) => {
      await storeAll(some(40))
      await client.query(`
        insert into documents select 'db', 'others', n::text, '', '{}'
        from generate_series(1, ${count}) as n`)
      await client.query(`
        insert into index_entries (index_id, key, id, sole)
        select 1, convert_to(id, 'utf8'), id, convert_to(id, 'utf8')
        from documents where collection = 'others'`)
      if (count > 0) await client.query('analyze')
      // PostgreSQL keeps the plan from the sixth run on.
      for (let run = 0; run < 7; run++) await changes[kind]?.(run)
      const { name = '', values = [] } = statements[0] ?? {}
      const kept = await client.query(
        'select generic_plans::integer from pg_prepared_statements where name = $1',
        [name],
      )
      expect(kept.rows[0]?.generic_plans).toBeGreaterThan(0)
      const arrays = Array(values.length - 1).fill("'{a}'")
      const { rows } = await client.query(`explain execute "${name}"(${arrays.join()}, 1)`)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      // A join would compare each document of the batch with each other, or read a whole index.
      expect(plan).not.toMatch(/Seq Scan on (?:index_entries|documents\b)|Hash|Merge|Bitmap/)
      if (kind === 'insertions') expect(plan).not.toContain('Join')
      if (kind !== 'deletions') expect(plan).toContain('using index_entries_sole')
      if (kind === 'insertions') return
      expect(plan).toMatch(/Nested Loop .*\n *-> {2}CTE Scan on document /)
      expect(plan).toContain('using documents_key')
      expect(plan).toContain('using index_entries_key')
      expect(plan).toContain('Tid Scan on index_entries')
    },
  )
})
