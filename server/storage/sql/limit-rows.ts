import { type RawBuilder, sql } from 'kysely'

/**
 * Returns the operand of a `limit` clause. It is an expression, because SQLite prepares a statement
 * with `limit ?` again each time a value is bound, which may change the plan.
 */
export const limitRows = (rows: number): RawBuilder<number> => sql`cast(${rows} as integer)`
