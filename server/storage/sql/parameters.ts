import { type RawBuilder, sql } from 'kysely'
import type { EngineName } from '../engine.ts'

/** Object id of the type `text`. */
const TEXT = 25

/** Bytes before the elements: dimensions, flags, type, number of elements, lower bound. */
const HEADER = 20

/**
 * Encodes texts as the binary form of `text[]`. The text form of `pg` would escape each element,
 * and PostgreSQL would parse it again.
 */
export function encodeTextArray(texts: readonly string[]): Buffer {
  let size = HEADER
  for (const text of texts) size += 4 + Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(size)
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(0, 4)
  bytes.writeInt32BE(TEXT, 8)
  bytes.writeInt32BE(texts.length, 12)
  bytes.writeInt32BE(1, 16)
  let at = HEADER
  for (const text of texts) {
    const written = bytes.write(text, at + 4)
    bytes.writeInt32BE(written, at)
    at += 4 + written
  }
  return bytes
}

/** Returns a comparison, to write after a column, with the ids in a parameter: a JSON array. */
export const listedIds = (engine: EngineName): RawBuilder<unknown> =>
  engine === 'sqlite'
    ? sql`in (select value from json_each(${''}))`
    : sql`= any(array(select json_array_elements_text(cast(${''} as json))))`

/**
 * Returns the operand of a `limit` clause. It is an expression, because SQLite prepares a statement
 * with `limit ?` again each time a value is bound, which may change the plan.
 */
export const limitRows = (rows: number): RawBuilder<number> => sql`cast(${rows} as integer)`
