import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../open.ts'
import { encodeTextArray } from '../../sql/parameters.ts'
import type { Store } from '../../store.ts'
import { makeDatabase } from '../../test-support/each-engine.testing.ts'
import type { Statement } from '../connections/guarded-client.ts'
import { Lookups } from './lookups.ts'

let database: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let client: pg.Client
/** The statements of {@link lookups}. */
let statements: Statement[]
let lookups: Lookups

beforeAll(async () => {
  database = await makeDatabase()
  store = await openStore(database.location, 'tool')
  client = new pg.Client({ connectionString: database.databaseUrl })
  await client.connect()
  statements = []
  const execute = (statement: Statement) => {
    statements.push(statement)
    return client.query({ ...statement, values: [...statement.values], rowMode: 'array' })
  }
  lookups = new Lookups((all) => Promise.all(all.map(execute)))
})
afterAll(async () => {
  await client.end()
  await store.close()
  await database.remove()
})

const tagOf = () =>
  sql<{ tag: string }>`
    select tag from documents
    where database = ${''} and collection = ${''} and id = ${''}`.compile(store.db)

const idOf = () =>
  sql<{ id: string }>`select id from documents where tag = ${''} limit 1`.compile(store.db)

/** Stores documents whose tag is their id. */
const insert = (...ids: string[]) =>
  store.db
    .insertInto('documents')
    .values(
      ids.map((id) => ({ database: '_system', collection: 'articles', id, tag: id, body: '{}' })),
    )
    .execute()

test('the lookups of a turn are one statement, and each gets its own rows', async () => {
  await insert('a', 'b', 'c')
  const lookUp = lookups.prepare(tagOf())
  statements = []
  const found = await Promise.all(
    ['c', 'missing', 'a', 'b', 'a'].map((id) => lookUp('_system', 'articles', id)),
  )
  expect(found.map(({ rows }) => rows)).toEqual([
    [{ tag: 'c' }],
    [],
    [{ tag: 'a' }],
    [{ tag: 'b' }],
    [{ tag: 'a' }],
  ])
  // The lookups of `a` share their rows.
  expect(statements.map(({ values }) => values.at(-1))).toEqual([4])
})

test('different lookups that wait for a message share the next one', async () => {
  const messages: number[] = []
  const first = Promise.withResolvers<void>()
  const one = { inFlight: 1, spacing: 0, record: () => {} }
  const waiting = new Lookups(async (all) => {
    messages.push(all.length)
    await first.promise
    return all.map(() => ({ fields: [], rows: [] }) as never)
  }, one)
  const [byId, byTag] = [waiting.prepare(tagOf()), waiting.prepare(idOf())]
  const found: unknown[] = [byId('_system', 'articles', 'a')]
  await expect.poll(() => messages).toEqual([1])
  found.push(byTag('a'), byId('_system', 'articles', 'b'), byTag('b'))
  first.resolve()
  await Promise.all(found)
  expect(messages).toEqual([1, 2])
})

test('a lookup that PostgreSQL rejects does not fail the others', async () => {
  await insert('good')
  const lookUp = lookups.prepare(tagOf())
  const [good, bad] = await Promise.allSettled(
    ['good', 'a\0'].map((id) => lookUp('_system', 'articles', id)),
  )
  expect(good).toMatchObject({ value: { rows: [{ tag: 'good' }] } })
  expect(bad).toMatchObject({ reason: { code: '22021' } })
})

test('the cached plan of PostgreSQL uses the index, however small the table was', async () => {
  await client.query('discard all')
  await client.query('truncate documents')
  const lookUp = lookups.prepare(tagOf())
  statements = []
  // PostgreSQL keeps the plan from the sixth run on.
  for (let run = 0; run < 6; run++) {
    await Promise.all(
      Array.from({ length: 10 * run + 1 }, (_, at) => lookUp('_system', 'articles', String(at))),
    )
  }
  const { name = '' } = statements[0] ?? {}
  const arrays = "'{a}', '{b}', '{c}'"
  const { rows } = await client.query(`explain execute "${name}"(${arrays}, 1)`)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('Index Scan using documents')
  expect(plan).not.toMatch(/Seq Scan|Hash/)
  const kept = await client.query(
    'select generic_plans::integer from pg_prepared_statements where name = $1',
    [name],
  )
  expect(kept.rows[0]?.generic_plans).toBeGreaterThan(0)
})

test('a database that is closed rejects lookups', async () => {
  const empty = { fields: [], rows: [] } as never
  const closing = new Lookups(async () => [empty])
  const lookUp = closing.prepare(tagOf())
  const last = lookUp('_system', 'articles', 'a')
  expect(closing.waiting).toBe(1)
  await closing.close()
  expect(await last).toEqual({ rows: [] })
  await expect(lookUp('_system', 'articles', 'a')).rejects.toMatchObject({ code: 'unavailable' })
})

test('PostgreSQL reads an array of texts as it was written', async () => {
  const texts = ['', 'a', 'null', '{,}', '"\\\\"', ' é € 😀\n\u0001', 'x'.repeat(100_000)]
  const { rows } = await client.query('select $1::text[] as texts', [encodeTextArray(texts)])
  expect(rows).toEqual([{ texts }])
})
