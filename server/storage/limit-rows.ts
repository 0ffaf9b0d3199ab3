import { type RawBuilder, sql } from 'kysely'

/**
 * Returns the number of rows after `limit`. SQLite plans a statement with `limit ?` again each time
 * it is bound, because the value may change the plan. It does not look into an expression.
 */
export const limitRows = (rows: number): RawBuilder<number> => sql`cast(${rows} as integer)`
