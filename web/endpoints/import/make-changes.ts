import type { ImportChange } from './import-plan.ts'

/** How the making of changes ended. */
export type ChangesEnd =
  /** Each was tried, but for those held back. */
  | { readonly by: 'all' }
  | { readonly by: 'stop' }
  /** Trying on made no sense: nobody answers, or nobody is signed in any more. */
  | { readonly by: 'interruption'; readonly error: Error }

/** What {@link makeChanges} is given. */
export interface MakeChangesOptions {
  /** In groups that wait for each other. */
  readonly groups: readonly (readonly ImportChange[])[]
  /** Carries one out; throws why not. */
  readonly send: (change: ImportChange) => Promise<void>
  /** Whether a failure is one of all of them, so that no other is begun. */
  readonly interrupts: (error: Error) => boolean
  /** Told of each that was made, or why it was not. */
  readonly settled: (change: ImportChange, error: Error | undefined) => void
  /** No other is begun once it is aborted; those under way are waited for. */
  readonly stop: AbortSignal
  /** How many are under way at once. */
  readonly width: number
  /** Removes what is to be removed even where something failed before. */
  readonly removeAnyway: boolean
}

/**
 * Makes changes group by group. Nothing is removed once something has failed before it: the new
 * place of what the removed endpoint served may not be there.
 */
export async function makeChanges(options: MakeChangesOptions): Promise<ChangesEnd> {
  const { groups, send, interrupts, settled, stop, width, removeAnyway } = options
  let failed = false
  let interruption: Error | undefined
  for (const group of groups) {
    const hold = failed && !removeAnyway
    const waiting = group.filter(({ kind }) => !(hold && kind === 'removed')).values()
    const work = async () => {
      for (const change of waiting) {
        if (stop.aborted || interruption !== undefined) return
        const error = await send(change).then(
          () => undefined,
          (reason: unknown) => (reason instanceof Error ? reason : new Error(`${reason}`)),
        )
        if (error !== undefined && interrupts(error)) interruption ??= error
        else {
          failed ||= error !== undefined
          settled(change, error)
        }
      }
    }
    await Promise.all(Array.from({ length: width }, work))
    if (interruption !== undefined) return { by: 'interruption', error: interruption }
    if (stop.aborted) return { by: 'stop' }
  }
  return { by: 'all' }
}
