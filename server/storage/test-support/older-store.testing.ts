import { Kysely } from 'kysely'
import { migrationsUpTo } from '../backup/tables.ts'
import { migrate } from '../migrate.ts'
import { openPostgres } from '../postgres/open-postgres.ts'
import { openSqlite } from '../sqlite/open-sqlite.ts'
import type { Tables } from '../tables.ts'
import type { TestEngine } from './each-engine.testing.ts'

/** Opens the store of an older version, which has the migrations up to `last`. */
export async function openOlder(engine: TestEngine, last: string) {
  const location = engine.location()
  const { dialect, close } = await ('data' in location
    ? openSqlite(location.data, 'tool', () => {})
    : openPostgres(location.databaseUrl, 'tool', () => {}))
  const db = new Kysely<Tables>({ dialect })
  await migrate(db, migrationsUpTo(engine.name, last))
  return { db, [Symbol.asyncDispose]: () => close() }
}
