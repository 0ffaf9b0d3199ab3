import type { Logger } from 'pino'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'

/**
 * Makes what logs a fault, in answering or in work that nobody waits for. That the store is away is
 * no news then: it is said once when it goes and once when it is back (see `readiness.ts`), not by
 * each that misses it.
 */
export function logFault(
  store: Pick<Store, 'away' | 'returned'>,
  log: Logger,
  message: string,
): (error: unknown) => void {
  async function judge(err: unknown): Promise<void> {
    if (!(err instanceof Failure) || err.code !== 'unavailable') return log.error({ err }, message)
    if (store.away() !== undefined) return
    // A connection broke: of some that the store itself has gone with is known a moment later.
    if (await store.returned()) return
    const cause = err.cause instanceof Error ? err.cause.message : undefined
    log.error({ reason: cause ?? err.message }, message)
  }
  return (err) => void judge(err)
}
