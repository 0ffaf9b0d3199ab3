import { sql } from 'kysely'

/**
 * The time by the clock of the database, in milliseconds since 1970. The clocks of the nodes may
 * differ. PostgreSQL only.
 */
export const storeClock = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
