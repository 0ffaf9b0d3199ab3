import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RowLocked } from '../../engine.ts'
import { openStore } from '../../open.ts'
import type { Store } from '../../store.ts'
import { makeDatabase } from '../../test-support/each-engine.testing.ts'
import type { Statement } from '../connections/guarded-client.ts'
import { postgresError } from '../postgres-error.ts'
import { RowChanges } from './row-changes.ts'

const KEY = ['database', 'collection', 'id']
const insertion = {
  name: 'insert',
  columns: [...KEY, 'tag', 'body'],
  key: 'tag',
  sql: (input: string) => `
    insert into documents select database, collection, id, tag, body from ${input}
    on conflict do nothing returning tag`,
}
const deletion = {
  name: 'delete',
  columns: [...KEY, 'tag'],
  key: 'tag',
  sql: (input: string) => `
    delete from documents using ${input} where documents.database = input.database
    and documents.collection = input.collection and documents.id = input.id
    and documents.tag = input.tag returning documents.tag`,
}

let database: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let client: pg.Client
/** The statements of {@link changes}. */
let statements: Statement[]
let changes: RowChanges

beforeAll(async () => {
  database = await makeDatabase()
  store = await openStore(database.location, 'tool')
  client = new pg.Client({ connectionString: database.databaseUrl })
  await client.connect()
  changes = new RowChanges((statement) => {
    statements.push(statement)
    const query = { ...statement, values: [...statement.values], rowMode: 'array' as const }
    return client.query(query).catch((cause: unknown) => {
      throw postgresError(cause)
    })
  })
})
beforeEach(async () => {
  statements = []
  await client.query('truncate documents')
})
afterAll(async () => {
  await client.end()
  await store.close()
  await database.remove()
})

const insertInto = (change: ReturnType<RowChanges['prepare']>) => (id: string, tag: string) =>
  change('_system', 'articles', id, tag, '{}')
const stored = async () =>
  (await store.db.selectFrom('documents').select('id').orderBy('id').execute()).map(({ id }) => id)

test('the changes of a turn are one statement, and each has its own outcome', async () => {
  const insert = insertInto(changes.prepare(insertion))
  expect(await insert('b', 'first')).toBe(true)
  statements = []
  const made = await Promise.all([
    insert('c', 'second'),
    insert('b', 'third'),
    insert('a', 'fourth'),
    insert('c', 'fifth'),
  ])
  expect(made.filter(Boolean)).toHaveLength(2)
  expect([made[1], made[2]]).toEqual([false, true])
  expect(statements).toHaveLength(1)
  expect(await stored()).toEqual(['a', 'b', 'c'])
})

test('one of several equal changes is made', async () => {
  await insertInto(changes.prepare(insertion))('a', 'one')
  const remove = changes.prepare(deletion)
  const made = await Promise.all([1, 2, 3].map(() => remove('_system', 'articles', 'a', 'one')))
  expect(made.filter(Boolean)).toEqual([true])
})

test('a change that PostgreSQL rejects does not fail the others', async () => {
  const insert = insertInto(changes.prepare(insertion))
  const made = await Promise.allSettled([insert('a', '1'), insert('b\0', '2'), insert('c', '3')])
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await stored()).toEqual(['a', 'c'])
})

test('a row that a unique index excludes is not changed, and does not fail the others', async () => {
  const sql = (input: string) => insertion.sql(input).replace('on conflict do nothing', '')
  const insert = insertInto(changes.prepare({ ...insertion, sql }))
  expect(await insert('b', 'first')).toBe(true)
  const made = await Promise.all([
    insert('a', 'second'),
    insert('b', 'third'),
    insert('c', 'fourth'),
  ])
  expect(made).toEqual([true, false, true])
  expect(await stored()).toEqual(['a', 'b', 'c'])
})

test('rows that a long transaction has locked do not delay the others, and are not changed', async () => {
  const insert = insertInto(changes.prepare(insertion))
  const other = new pg.Client({ connectionString: database.databaseUrl })
  await other.connect()
  await other.query('begin')
  const locked = ['c', 'locked', 'm']
  for (const id of locked) {
    await other.query(`insert into documents values ('_system', 'articles', '${id}', 'x', '{}')`)
  }
  const ids = ['a', 'b', ...locked, 'n', 'o']
  const made = await Promise.allSettled(ids.map((id) => insert(id, id)))
  const expected = ids.map((id) =>
    locked.includes(id) ? { reason: expect.any(RowLocked) } : { value: true },
  )
  expect(made).toMatchObject(expected)
  // Only the whole batch waits.
  const waits = statements.map(({ text }) => /'lock_timeout', '(\d+)'/.exec(text)?.[1])
  expect(waits).toEqual(['100', ...waits.slice(1).map(() => '1')])
  await other.query('rollback')
  await other.end()
})

test('the cached plans of PostgreSQL use indexes, however small the table was', async () => {
  const remove = changes.prepare(deletion)
  for (let run = 0; run < 6; run++) {
    await Promise.all(
      Array.from({ length: 10 * run + 1 }, (_, at) => remove('_system', 'articles', `${at}`, 'x')),
    )
  }
  const { name = '' } = statements[0] ?? {}
  const array = "'{a,b,c}'"
  const arrays = deletion.columns.map(() => array).join()
  const { rows } = await client.query(`explain execute "${name}"(${arrays}, 3)`)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('Index Scan using documents')
  expect(plan).not.toMatch(/Seq Scan|Hash/)
})

test('a database that is closed rejects changes', async () => {
  const closing = new RowChanges(async () => ({ rows: [['x']] }) as never)
  const insert = insertInto(closing.prepare(insertion))
  const last = insert('a', 'x')
  expect(closing.waiting).toBe(1)
  await closing.close()
  expect(await last).toBe(true)
  await expect(insert('b', 'y')).rejects.toMatchObject({ code: 'unavailable' })
})
