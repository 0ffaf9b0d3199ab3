import { PostgresDialect } from 'kysely'
import type pg from 'pg'
import { Failure, systemCode } from '../failure.ts'
import type { Engine } from './engine.ts'
import { InFlight } from './in-flight.ts'
import { createPool, guardPool } from './postgres-pool.ts'
import { postgresError } from './unavailable.ts'

/** How often the store is asked whether it has changed, in milliseconds. */
const pollInterval = 1_000

/**
 * Connects to the PostgreSQL at this URL.
 *
 * @throws Failure `unavailable` when it cannot be reached or does not let us in.
 */
export async function openPostgres(databaseUrl: string): Promise<Engine> {
  const place = placeOf(databaseUrl)
  const pool = createPool(databaseUrl)
  try {
    await pool.query('select 1')
  } catch (error) {
    await pool.end()
    throw new Failure('unavailable', `PostgreSQL at ${place} cannot be used: ${reason(error)}.`, {
      cause: error,
    })
  }
  const inFlight = new InFlight()
  const revision = watchRevision(pool)
  return {
    name: 'postgres',
    dialect: new PostgresDialect({ pool: guardPool(pool, inFlight) }),
    watch: revision.start,
    changedOutside: revision.changed,
    async close() {
      await Promise.all([inFlight.close(), revision.stop()])
      await pool.end()
    },
  }
}

/** Host and database, without the password that stands beside them. */
function placeOf(databaseUrl: string): string {
  // Without a cause: the error of the URL parser repeats all of it.
  if (!URL.canParse(databaseUrl)) {
    throw new Failure('unavailable', 'The URL of the database is not a URL.')
  }
  const { host, pathname } = new URL(databaseUrl)
  return `${host}${pathname}`
}

/** Several addresses tried in vain make an error without a message, but with a code. */
function reason(error: unknown): string {
  return (error as Error).message || systemCode(error) || 'no reason given'
}

/**
 * Asks for the revision from time to time. A server that is away is nothing new here: the
 * requests say so, and the first answer after it shows whether something was missed.
 */
function watchRevision(pool: pg.Pool) {
  let seen: number | undefined
  let changed = false
  let polling: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  const current = async (): Promise<number> => {
    const { rows } = await pool.query("select value from counters where name = 'revision'")
    return rows[0].value
  }
  const poll = async () => {
    try {
      const revision = await current()
      if (revision !== seen) changed = true
      seen = revision
    } catch {
      // See above.
    } finally {
      polling = undefined
    }
  }
  return {
    async start(): Promise<void> {
      seen = await current().catch((error) => {
        throw postgresError(error)
      })
      timer = setInterval(() => {
        polling ??= poll()
      }, pollInterval)
      timer.unref()
    },
    changed(): boolean {
      const was = changed
      changed = false
      return was
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await polling
    },
  }
}
