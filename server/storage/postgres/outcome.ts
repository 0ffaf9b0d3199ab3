import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { connectOnce, leave, whileAnswering } from './postgres-look.ts'
import type { Reach } from './reach.ts'
import { OutcomeUnknown, StoreUnavailable } from './unavailable.ts'

/**
 * Which life of a PostgreSQL somebody has known: it begins anew when the server recovers from a
 * crash. What had not been stored is gone then, and its names are given to other transactions.
 */
export interface ServerLife {
  /** When its statistics began, as the server says it: a recovery resets them. */
  readonly life: string | undefined
}

/** The pause between two questions while the transaction has not ended, ms. */
const STILL = 20

/**
 * Finds out what became of a transaction whose COMMIT was sent and never answered; resolves when it
 * was committed. One that is still open is ended: whatever it was sent has not arrived.
 *
 * @param name what `pg_current_xact_id()` gave; the server keeps what became of it for long.
 * @throws Failure `unavailable`: nothing was kept. {@link OutcomeUnknown} where the server does not
 * answer, or was started anew after a crash.
 */
export async function settleCommit(
  connectionString: string,
  name: string,
  { life }: ServerLife,
  reach: Reach,
  cause: unknown,
): Promise<void> {
  if (reach.away !== undefined) throw new OutcomeUnknown({ cause })
  const client = connectOnce(connectionString)
  try {
    const found = await whileAnswering(client, findOut(client, name, life), 'unknown')
    if (found === 'committed') return
    if (found === 'aborted') throw notKept(cause)
    throw new OutcomeUnknown({ cause })
  } finally {
    leave(client)
  }
}

async function findOut(client: pg.Client, name: string, life: string | undefined) {
  try {
    await client.connect()
    for (;;) {
      // Those that are still open are ended first: by their name, which no other has.
      const { rows } = await client.query<{ outcome: string | null; life: string }>(
        `with ended as (select pg_terminate_backend(pid) from pg_stat_activity
                        where backend_xid = $1::xid8::xid)
         select pg_xact_status($1::xid8) as outcome,
                (select stats_reset::text from pg_stat_bgwriter) as life,
                (select count(*) from ended) as ended`,
        [name],
      )
      const [row] = rows
      if (row === undefined || life === undefined || row.life !== life) return 'unknown'
      if (row.outcome !== 'in progress') return row.outcome ?? 'unknown'
      await pause(STILL)
    }
  } catch {
    return 'unknown'
  }
}

const notKept = (cause: unknown) =>
  new StoreUnavailable('The change could not be stored, and nothing of it was kept. Try again.', {
    cause,
  })
