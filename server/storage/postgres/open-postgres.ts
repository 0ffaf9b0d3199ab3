import { PostgresDialect, type PostgresPool } from 'kysely'
import type pg from 'pg'
import { Failure, systemCode } from '../failure.ts'
import { ConnectionLimits } from './connection-limits.ts'
import type { Engine, NoticeTopic } from './engine.ts'
import { InFlight } from './in-flight.ts'
import { lookAtPostgres, reasonOf } from './postgres-look.ts'
import { listenForNotices, REVISION } from './postgres-notices.ts'
import { createPool, guardPool } from './postgres-pool.ts'
import { type Away, Reach, within } from './reach.ts'
import { hasSpoken, StoreUnavailable } from './unavailable.ts'
import type { UntilAvailable } from './until-available.ts'

/** Time after which the pool is asked for the revision, too, ms. */
const HEDGE = 500

/**
 * Connects to the PostgreSQL at this URL. A `node` listens for notices of others; a `tool` (a command)
 * is gone before it could miss any.
 *
 * @param onReach see `openStore`.
 * @throws Failure `unavailable` when it cannot be reached or does not let us in.
 */
export async function openPostgres(
  databaseUrl: string,
  role: 'node' | 'tool',
  onReach: (away: Away | undefined) => void,
  untilAvailable: UntilAvailable = (step) => step(),
): Promise<Engine> {
  const place = placeOf(databaseUrl)
  const connections = createPool(databaseUrl)
  const { pool } = connections
  try {
    await untilAvailable(() => connectFirst(pool))
  } catch (error) {
    await pool.end()
    if (!(error instanceof StoreUnavailable) && !hasSpoken(error)) throw error
    const cause = error instanceof StoreUnavailable ? error.cause : error
    throw new Failure('unavailable', `PostgreSQL at ${place} cannot be used: ${reasonOf(cause)}.`, {
      cause,
    })
  }
  const inFlight = new InFlight()
  const reach = new Reach({
    look: (processes) => lookAtPostgres(databaseUrl, processes),
    changed(away) {
      if (away === undefined) {
        notices.back()
      } else {
        connections.cutOff()
        notices.away()
      }
      onReach(away)
    },
  })
  let changed = false
  let tell: (topic: NoticeTopic) => void = () => {}
  let writeFailed: (failure: unknown) => void = () => {}
  const notices = listenForNotices(
    databaseUrl,
    (topic) => {
      if (topic === 'changes' || topic === 'all') changed = true
      tell(topic)
    },
    // It asks from time to time also where nobody else does.
    () => reach.suspect(),
  )
  const limits = new ConnectionLimits(reach)
  const guarded = guardPool({
    connections,
    connectionString: databaseUrl,
    inFlight,
    reach,
    limits,
    failed: (failure) => writeFailed(failure),
  })
  return {
    name: 'postgres',
    dialect: new PostgresDialect({ pool: guarded }),
    async watch(heard) {
      tell = heard
      if (role === 'node') await notices.start()
    },
    changedOutside() {
      const was = changed
      changed = false
      return was
    },
    connections: () => limits.use,
    runLong: (run) => limits.long(run),
    hold: (name) => notices.hold(name),
    async readRevision() {
      const heard = notices.readRevision()
      const early = await within(
        HEDGE,
        heard.catch(() => undefined),
        undefined,
      )
      if (early !== undefined) return early
      return Promise.any([heard, readRevision(guarded)]).catch(({ errors }: AggregateError) => {
        throw errors.at(-1)
      })
    },
    onWriteFailure(callback) {
      writeFailed = callback
    },
    // A session keeps the `default_transaction_read_only` that it began with.
    renewConnections: () => connections.renew(),
    away: () => reach.away,
    returned: () => reach.returned(),
    async close() {
      await Promise.all([inFlight.close(), notices.stop()])
      // Of what was under way a notice may have come just before.
      changed = false
      await reach.stop()
      // The pool would say goodbye to a server that is gone, and wait for it.
      if (reach.away !== undefined) connections.cutOff()
      await pool.end()
    },
  }
}

/** Reads the revision over a connection of the pool. */
async function readRevision(pool: PostgresPool): Promise<number> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ value: number }>(REVISION, [])
    return Number(rows[0]?.value)
  } finally {
    client.release()
  }
}

/** Host and database, without the password that stands beside them. */
export function placeOf(databaseUrl: string): string {
  // Without a cause: the error of the URL parser repeats all of it.
  if (!URL.canParse(databaseUrl)) {
    throw new Failure('unavailable', 'The URL of the database is not a URL.')
  }
  const { host, pathname } = new URL(databaseUrl)
  return `${host}${pathname}`
}

/**
 * Makes the first connection.
 *
 * @throws StoreUnavailable where that may succeed later; the error of the server itself, such as of a
 * wrong password, where it does not.
 */
async function connectFirst(pool: pg.Pool): Promise<void> {
  try {
    await pool.query('select 1')
  } catch (error) {
    if (hasSpoken(error) && !/^53/.test(systemCode(error) ?? '')) throw error
    throw new StoreUnavailable(undefined, { cause: error })
  }
}
