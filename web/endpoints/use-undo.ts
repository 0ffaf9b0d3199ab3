import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { announce } from '../ui/announce.tsx'
import { restoreEndpoint } from './endpoint-requests.ts'
import { findRow } from './find-row.ts'
import { readAgain } from './read-again.ts'
import { type NotRestored, type Undo, undo } from './undo.ts'

/** What stands in the bar now, and how it is taken back. */
export function useUndo(): { now: Undo | undefined; takeBack: () => Promise<void> } {
  const queryClient = useQueryClient()
  const now = useSyncExternalStore(undo.subscribe, undo.current)
  const takeBack = useCallback(async () => {
    const removed = undo.begin()
    if (removed === undefined) return
    const failures: NotRestored[] = []
    await Promise.all(
      removed.map(async (record) => {
        const reason = await restoreEndpoint(record)
        if (reason !== undefined) failures.push({ record, reason })
      }),
    )
    await readAgain(
      queryClient,
      removed.map(({ endpoint }) => endpoint),
    )
    const [first, ...others] = removed
    if (failures.length === 0 && first !== undefined) {
      announce(
        others.length === 0
          ? `${first.endpoint} is back.`
          : `${removed.length} endpoints are back.`,
      )
      focusSoon(first.endpoint)
    }
    undo.end(failures)
  }, [queryClient])
  return { now, takeBack }
}

/** The button that had the focus goes with the bar: what is back gets it. */
function focusSoon(address: string): void {
  const lost =
    document.activeElement === document.body || document.activeElement?.closest('[data-undo]')
  if (lost) setTimeout(() => findRow(address)?.focus())
}
