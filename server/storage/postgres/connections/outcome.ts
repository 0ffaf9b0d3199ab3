import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { HealthMonitor } from '../../availability/health-monitor.ts'
import { OutcomeUnknown, StoreUnavailable } from '../../availability/unavailable.ts'
import { createClient, disconnect, withPacketTimeout } from './probe.ts'

/**
 * Identifies a run of the PostgreSQL server between two crash recoveries. A recovery discards
 * changes that were not yet on disk, and their transaction ids are assigned again.
 */
export interface ServerRun {
  /** Start of the server's statistics, as text. A crash recovery resets them. */
  readonly runStart: string | undefined
}

/** Pause between two queries while the transaction is still in progress, ms. */
const POLL_INTERVAL = 20

/**
 * Determines the outcome of a transaction whose COMMIT was sent but not answered. Resolves if it
 * was committed. A transaction that is still open is terminated, because its COMMIT did not arrive.
 *
 * @param name result of `pg_current_xact_id()`. The server keeps the outcome long after the
 * transaction has ended.
 * @throws Failure `unavailable` if the transaction was rolled back; {@link OutcomeUnknown} if the
 * server does not respond or has recovered from a crash.
 */
export async function resolveCommit(
  connectionString: string,
  name: string,
  { runStart }: ServerRun,
  health: HealthMonitor,
  cause: unknown,
): Promise<void> {
  if (health.outage !== undefined) throw new OutcomeUnknown({ cause })
  const client = createClient(connectionString)
  try {
    const found = await withPacketTimeout(client, findOutcome(client, name, runStart), 'unknown')
    if (found === 'committed') return
    if (found === 'aborted') throw rolledBack(cause)
    throw new OutcomeUnknown({ cause })
  } finally {
    disconnect(client)
  }
}

async function findOutcome(client: pg.Client, name: string, runStart: string | undefined) {
  try {
    await client.connect()
    for (;;) {
      // If the transaction is still open, terminate its backend, found by the transaction id.
      const { rows } = await client.query<{ outcome: string | null; run_start: string }>(
        `with ended as (select pg_terminate_backend(pid) from pg_stat_activity
                        where backend_xid = $1::xid8::xid)
         select pg_xact_status($1::xid8) as outcome,
                (select stats_reset::text from pg_stat_bgwriter) as run_start,
                (select count(*) from ended) as ended`,
        [name],
      )
      const [row] = rows
      if (row === undefined || runStart === undefined || row.run_start !== runStart)
        return 'unknown'
      if (row.outcome !== 'in progress') return row.outcome ?? 'unknown'
      await pause(POLL_INTERVAL)
    }
  } catch {
    return 'unknown'
  }
}

const rolledBack = (cause: unknown) =>
  new StoreUnavailable('The change could not be stored. Nothing was changed. Try again.', {
    cause,
  })
