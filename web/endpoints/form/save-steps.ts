import { NoAnswer } from '../../app/api.ts'

export type SaveStage =
  | 'idle'
  | 'saving'
  /** Nothing was sent: the server is unreachable. The save continues once it is reachable. */
  | 'waiting'
  /** The change was sent without a response; the result is being checked. */
  | 'unsure'

/** The steps of a save. Each rejects with {@link NoAnswer} if no response arrives. */
export interface SaveSteps {
  /** Checks whether the change may be sent; rejects with the reason if not. Changes nothing. */
  readonly check: () => Promise<unknown>
  readonly send: () => Promise<unknown>
  /** Resolves with whether the change was applied. */
  readonly look: () => Promise<boolean>
  /** Waits before the next attempt, counted from 0. Rejects when the save is cancelled. */
  readonly pause: (tries: number) => Promise<void>
  readonly onStage: (stage: SaveStage) => void
}

/** The change was sent and was not applied. */
export class NotApplied extends Error {
  override readonly name = 'NotDone'
}

/**
 * Sends a change once, and resolves when it is known to be applied. While the server is
 * unreachable, it waits before sending. If the response is lost, it never resends: it checks until
 * it knows the result. Rejects with the server's rejection, with {@link NotDone}, or as `pause`
 * does.
 */
export async function saveInSteps(steps: SaveSteps): Promise<void> {
  const { check, send, look, onStage } = steps
  onStage('saving')
  await untilAnswered(check, steps, 'waiting')
  onStage('saving')
  try {
    await send()
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    onStage('unsure')
    if (!(await untilAnswered(look, steps, 'unsure'))) throw new NotApplied()
  }
}

async function untilAnswered<T>(
  ask: () => Promise<T>,
  { pause, onStage }: SaveSteps,
  meanwhile: SaveStage,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
    }
    onStage(meanwhile)
    await pause(tries)
  }
}
