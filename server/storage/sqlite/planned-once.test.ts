import { DatabaseSync } from 'node:sqlite'
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  sql,
} from 'kysely'
import { expect, test } from 'vitest'
import { limitRows } from '../sql/parameters.ts'
import { StableQueryCompiler } from './open-sqlite.ts'
import { SqliteStatements } from './statements.ts'

const queries = new Kysely<{ notes: { id: number } }>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new StableQueryCompiler(),
  },
})

test.each<[string, (limit: number) => CompiledQuery]>([
  ['a query', (limit) => queries.selectFrom('notes').select('id').limit(limit).compile()],
  ['a template', (limit) => sql`select id from notes limit ${limitRows(limit)}`.compile(queries)],
])('a statement with a limit is planned once: %s', (_, queryOf) => {
  const db = new DatabaseSync(':memory:')
  db.exec('create table notes (id integer primary key); insert into notes values (1), (2), (3)')
  const statements = new SqliteStatements(db)
  let planned = 0
  // Called for each table and column of a statement that SQLite plans.
  db.setAuthorizer(() => {
    planned++
    return 0
  })
  expect(statements.execute(queryOf(1)).rows).toHaveLength(1)
  const first = planned
  expect(first).toBeGreaterThan(0)
  expect(statements.execute(queryOf(2)).rows).toHaveLength(2)
  expect(planned).toBe(first)
  db.close()
})
