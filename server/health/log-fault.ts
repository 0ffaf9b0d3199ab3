import type { Logger } from 'pino'
import { isStoreFailure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'
import type { Store } from '../storage/open.ts'

/** Minimum interval between log lines of the same store failure, ms: requests repeat it. */
export const SAY_AGAIN = 60_000

/** Maximum number of remembered log lines; the set is then cleared. */
const MOST = 100

/** Returns a function that logs errors under a message. */
export type FaultLog = (message: string) => (error: unknown) => void

/** Added to the log line if a part of the SQLite file cannot be read. */
const ADVICE = 'part of the SQLite file cannot be read; check the disk and restore a backup'

/**
 * Returns a {@link FaultLog} for errors of requests and of background work. An outage of the store
 * is logged once when it begins and once when it ends (see `readiness.ts`), not per request. Each
 * other failure of the store is logged once in {@link SAY_AGAIN}.
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
    // After a broken connection, check the store: an outage of it is logged elsewhere.
    if (await store.returned()) return
    const reason = err.cause instanceof Error ? err.cause.message : err.message
    if (!isNews(`${message}\n${reason}`)) return
    log.error({ reason, ...(err instanceof DamagedStore && { advice: ADVICE }) }, message)
  }
  return (message) => (err) => void judge(err, message)
}
