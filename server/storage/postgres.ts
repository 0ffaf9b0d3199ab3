import { PostgresDialect } from 'kysely'
import { Failure, systemCode } from '../failure.ts'
import type { Engine, NoticeTopic } from './engine.ts'
import { InFlight } from './in-flight.ts'
import { listenForNotices } from './postgres-notices.ts'
import { createPool, guardPool } from './postgres-pool.ts'

/**
 * Connects to the PostgreSQL at this URL. A `node` also listens for notices of others; a `tool` (a
 * command) is gone before it could miss any.
 *
 * @throws Failure `unavailable` when it cannot be reached or does not let us in.
 */
export async function openPostgres(databaseUrl: string, role: 'node' | 'tool'): Promise<Engine> {
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
  let changed = false
  let tell: (topic: NoticeTopic) => void = () => {}
  const notices = listenForNotices(databaseUrl, (topic) => {
    if (topic === 'changes' || topic === 'all') changed = true
    tell(topic)
  })
  return {
    name: 'postgres',
    dialect: new PostgresDialect({ pool: guardPool(pool, inFlight) }),
    async watch(heard) {
      tell = heard
      if (role === 'node') await notices.start()
    },
    changedOutside() {
      const was = changed
      changed = false
      return was
    },
    hold: (name) => notices.hold(name),
    async close() {
      await Promise.all([inFlight.close(), notices.stop()])
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
