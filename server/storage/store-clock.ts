import { sql } from 'kysely'

/**
 * The time by the clock of the store, ms since 1970: those of the nodes that share it may differ.
 * PostgreSQL alone.
 */
export const storeClock = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
