import { NoAnswer } from '../api.ts'

/** How a save stands. */
export type SaveStage =
  | 'idle'
  | 'saving'
  /** Nothing was sent yet: there is no connection. It goes on by itself. */
  | 'waiting'
  /** It was sent and no answer came: it looks whether it was done. */
  | 'unsure'

/** What a save is made of. Each rejects with {@link NoAnswer} where the server does not answer. */
export interface SaveSteps {
  /** Asks whether it may be sent at all; rejects with the reason where not. Changes nothing. */
  readonly check: () => Promise<unknown>
  readonly send: () => Promise<unknown>
  /** Whether what was sent has been done. */
  readonly look: () => Promise<boolean>
  /** Waits before the next try, the first being 0; rejects when it is given up. */
  readonly pause: (tries: number) => Promise<void>
  readonly onStage: (stage: SaveStage) => void
}

/** It was sent, and is known not to have been done. */
export class NotDone extends Error {
  override readonly name = 'NotDone'
}

/**
 * Sends a change once, and resolves when it is known to be done. Without a connection it waits before
 * it sends anything. Where the answer is lost it never guesses and never sends again: it looks,
 * as long as it takes. Rejects with what refused it, with {@link NotDone}, or as `pause` does.
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
    if (!(await untilAnswered(look, steps, 'unsure'))) throw new NotDone()
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
