import { type RawBuilder, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/**
 * The type of a text column that sorts by code point. SQLite's text does so by itself; PostgreSQL
 * sorts by the locale of the server unless the column says otherwise.
 */
export function codePointText(engine: EngineName): RawBuilder<unknown> {
  return engine === 'sqlite' ? sql`text` : sql`text collate "C"`
}
