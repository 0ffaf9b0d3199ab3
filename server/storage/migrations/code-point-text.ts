import { type RawBuilder, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/**
 * Returns the type of a text column that sorts by code point. SQLite does so by default. PostgreSQL
 * sorts by the locale of the database unless the column has another collation.
 */
export function codePointText(engine: EngineName): RawBuilder<unknown> {
  return engine === 'sqlite' ? sql`text` : sql`text collate "C"`
}
