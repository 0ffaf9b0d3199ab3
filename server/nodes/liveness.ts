import { sql } from 'kysely'
import { storeClock } from '../storage/store-clock.ts'

/** A node without a heartbeat for this long counts as dead, ms. */
export const DEAD_AFTER = 12_000

/** SQL expression: a node last seen after this time counts as alive. */
export const aliveSince = sql<number>`(${storeClock} - ${DEAD_AFTER}::bigint)`
