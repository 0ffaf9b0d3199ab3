import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { changeEndpoint } from '../endpoint-requests.ts'
import type { EndpointChange } from '../guard/check-changes.ts'
import { revealRow } from '../model/reveal-row.ts'
import { type Undo, type UndoFailed, undo } from '../model/undo.ts'
import { refetchEndpoints } from '../refetch-endpoints.ts'

/** Returns the current undo offer and the function that performs the undo. */
export function useUndo(): { now: Undo | undefined; takeBack: () => Promise<void> } {
  const queryClient = useQueryClient()
  const now = useSyncExternalStore(undo.subscribe, undo.current)
  const takeBack = useCallback(async () => {
    const changes = undo.begin()
    if (changes === undefined) return
    const failures: UndoFailed[] = []
    await Promise.all(
      changes.map(async (change) => {
        const { address, before, after } = change
        const reason = await changeEndpoint({ address, before: after, after: before })
        if (reason !== undefined) failures.push({ change, reason })
      }),
    )
    await refetchEndpoints(
      queryClient,
      changes.map(({ address }) => address),
    )
    const [first, ...others] = changes
    if (failures.length === 0 && first !== undefined) {
      announce(others.length === 0 ? formatUndone(first) : `${changes.length} changes were undone.`)
      focusSoon(first.address)
    }
    undo.end(failures)
  }, [queryClient])
  return { now, takeBack }
}

function formatUndone({ address, before, after }: EndpointChange): string {
  if (after === null) return `${address} was restored.`
  return before === null ? `${address} was removed.` : `${address} has its previous mapping.`
}

/** Moves the focus from the button of the bar, which disappears, to the row. */
function focusSoon(address: string): void {
  const lost =
    document.activeElement === document.body || document.activeElement?.closest('[data-undo]')
  if (lost) setTimeout(() => revealRow(address)?.focus())
}
