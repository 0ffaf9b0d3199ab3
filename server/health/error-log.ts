import type { Logger } from 'pino'
import { isStoreFailure } from '../failure.ts'
import { DamagedStore } from '../storage/availability/unavailable.ts'
import type { Store } from '../storage/store.ts'

/** Minimum interval between log lines of the same store failure, ms: requests repeat it. */
export const REPEAT_AFTER = 60_000

/** Maximum number of stored log lines; the set is then cleared. */
const MAX_LINES = 100

/** Returns a function that logs errors under a message. */
export type ErrorLog = (message: string) => (error: unknown) => void

/** Added to the log line if a part of the SQLite file cannot be read. */
const DAMAGE_ADVICE = 'part of the SQLite file cannot be read; check the disk and restore a backup'

/**
 * Returns a {@link ErrorLog} for errors of requests and of background work. An outage of the store
 * is logged once when it begins and once when it ends (see `readiness.ts`), not per request. Each
 * other failure of the store is logged once in {@link REPEAT_AFTER}.
 */
export function createErrorLog(
  store: Pick<Store, 'outage' | 'recovered'>,
  log: Logger,
  now: () => number = Date.now,
): ErrorLog {
  const loggedAt = new Map<string, number>()

  function isDue(line: string): boolean {
    if (now() < (loggedAt.get(line) ?? Number.NEGATIVE_INFINITY) + REPEAT_AFTER) return false
    if (loggedAt.size >= MAX_LINES) loggedAt.clear()
    loggedAt.set(line, now())
    return true
  }

  async function logOrSuppress(err: unknown, message: string): Promise<void> {
    if (!isStoreFailure(err)) return log.error({ err }, message)
    if (store.outage() !== undefined) return
    // After a broken connection, check the store: an outage of it is logged elsewhere.
    if (await store.recovered()) return
    const reason = err.cause instanceof Error ? err.cause.message : err.message
    if (!isDue(`${message}\n${reason}`)) return
    log.error({ reason, ...(err instanceof DamagedStore && { advice: DAMAGE_ADVICE }) }, message)
  }
  return (message) => (err) => void logOrSuppress(err, message)
}
