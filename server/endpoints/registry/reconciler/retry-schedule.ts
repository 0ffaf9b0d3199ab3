import type { Listener } from '../../listeners/listener.ts'

/** Delays between attempts to open a failed endpoint, ms; doubled each time, up to `longest`. */
const BACKOFF = { first: 1_000, longest: 60_000 }

/**
 * Delay between attempts to open an endpoint that is elsewhere, ms: its address may move to this
 * machine.
 */
const ELSEWHERE_RETRY_DELAY = 5_000

/** The next attempts to open the listeners that are not open. */
export interface RetrySchedule {
  /**
   * Schedules the next attempt for a listener that is `failed` or `elsewhere`; cancels it for one
   * that is listening or draining. Called after each change of state and each failed attempt.
   */
  update(listener: Listener): void
  /** Cancels all attempts and schedules no more. */
  stop(): void
}

/** Creates a {@link RetrySchedule} that calls `retry` when an attempt is due. */
export function createRetrySchedule(retry: (listener: Listener) => void): RetrySchedule {
  const scheduled = new Map<Listener, { timer: NodeJS.Timeout; delay: number }>()
  let stopped = false

  function schedule(listener: Listener): void {
    const last = scheduled.get(listener)
    clearTimeout(last?.timer)
    const elsewhere = listener.state === 'elsewhere'
    const backoff = last === undefined ? BACKOFF.first : Math.min(last.delay * 2, BACKOFF.longest)
    // Add ±10 % jitter so that listeners that failed together are not retried together.
    const wait = (elsewhere ? ELSEWHERE_RETRY_DELAY : backoff) * (0.9 + Math.random() * 0.2)
    const timer = setTimeout(() => retry(listener), wait).unref()
    scheduled.set(listener, { timer, delay: elsewhere ? BACKOFF.first : backoff })
    if (!elsewhere) listener.nextTry = Date.now() + wait
  }

  function cancel(listener: Listener): void {
    clearTimeout(scheduled.get(listener)?.timer)
    scheduled.delete(listener)
  }

  return {
    update(listener) {
      const { state } = listener
      if (state === 'listening' || state === 'draining') cancel(listener)
      else if (state !== 'opening' && !stopped) schedule(listener)
    },
    stop() {
      stopped = true
      for (const { timer } of scheduled.values()) clearTimeout(timer)
    },
  }
}
