import { NoResponse } from '../../api/client.ts'

export type SaveStage =
  | 'idle'
  | 'saving'
  /** Nothing was sent: the server is unreachable. The save continues once it is reachable. */
  | 'waiting'
  /** The change was sent without a response; the result is being checked. */
  | 'unsure'

/** The steps of a save. Each rejects with {@link NoResponse} if no response arrives. */
export interface SaveSteps {
  /** Checks whether the change may be sent; rejects with the reason if not. Changes nothing. */
  readonly check: () => Promise<unknown>
  readonly send: () => Promise<unknown>
  /** Resolves with whether the change was applied. */
  readonly wasApplied: () => Promise<boolean>
  /** Waits before the next attempt, counted from 0. Rejects if `signal` is aborted. */
  readonly pause: (tries: number) => Promise<void>
  /** Cancels the save, unless the change was already sent. */
  readonly signal: AbortSignal
  readonly onStage: (stage: SaveStage) => void
}

/** The change was sent and was not applied. */
export class NotApplied extends Error {
  override readonly name = 'NotApplied'
  override readonly message = 'The connection failed.'
}

/**
 * Sends a change once, and resolves when it is known to be applied. While the server is
 * unreachable, it waits before sending. If the response is lost, it never resends: it checks until
 * it knows the result. Rejects with the server's rejection, with {@link NotApplied}, or, if the save
 * is cancelled, with the reason of the signal.
 */
export async function saveInSteps(steps: SaveSteps): Promise<void> {
  const { check, send, wasApplied, signal, onStage } = steps
  onStage('saving')
  await retryUntilResponse(check, steps, 'waiting')
  signal.throwIfAborted()
  onStage('saving')
  try {
    await send()
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    onStage('unsure')
    if (!(await retryUntilResponse(wasApplied, steps, 'unsure'))) throw new NotApplied()
  }
}

async function retryUntilResponse<T>(
  attempt: () => Promise<T>,
  { pause, onStage }: SaveSteps,
  waitingStage: SaveStage,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
    }
    onStage(waitingStage)
    await pause(tries)
  }
}

/** Resolves after `ms`. Rejects with the reason of the signal once it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const cancel = () => reject(signal.reason)
  signal.addEventListener('abort', cancel)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}
