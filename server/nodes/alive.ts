import { sql } from 'kysely'
import { storeClock } from '../storage/store-clock.ts'

/** A node that has not said for this long that it is alive counts as dead, ms. */
export const DEAD_AFTER = 12_000

/** When a node must have been heard of last to count as alive. */
export const aliveSince = sql<number>`(${storeClock} - ${DEAD_AFTER}::bigint)`
