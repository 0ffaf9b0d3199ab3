import type { Logger } from 'pino'
import { isStoreFailure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { DamagedStore } from '../storage/unavailable.ts'

/** How often the same failure of the store is logged, ms: requests repeat it. */
export const SAY_AGAIN = 60_000

/** How many different lines are remembered; then all are forgotten. */
const MOST = 100

/** Makes what logs a fault under a message. */
export type FaultLog = (message: string) => (error: unknown) => void

/** Added to the log line of a part of SQLite's file that cannot be read. */
const ADVICE =
  'Part of the SQLite file cannot be read; the rest is served. Check the disk, then restore a backup.'

/**
 * Makes what logs a fault, in answering or in work that nobody waits for. That the store is away is
 * no news then: it is said once when it goes and once when it is back (see `readiness.ts`), not by
 * each that misses it. Other failures of the store are logged once in {@link SAY_AGAIN} each.
 */
export function createFaultLog(
  store: Pick<Store, 'away' | 'returned'>,
  log: Logger,
  now: () => number = Date.now,
): FaultLog {
  const said = new Map<string, number>()

  function isNews(line: string): boolean {
    if (now() < (said.get(line) ?? Number.NEGATIVE_INFINITY) + SAY_AGAIN) return false
    if (said.size >= MOST) said.clear()
    said.set(line, now())
    return true
  }

  async function judge(err: unknown, message: string): Promise<void> {
    if (!isStoreFailure(err)) return log.error({ err }, message)
    if (store.away() !== undefined) return
    // A connection broke: of some that the store itself has gone with is known a moment later.
    if (await store.returned()) return
    const reason = err.cause instanceof Error ? err.cause.message : err.message
    if (!isNews(`${message}\n${reason}`)) return
    log.error({ reason, ...(err instanceof DamagedStore && { advice: ADVICE }) }, message)
  }
  return (message) => (err) => void judge(err, message)
}
