import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { undoChanges } from './change-selected.ts'
import { lastChange } from './last-change.ts'
import { settleChange } from './settle-change.ts'

const preventUnload = (event: BeforeUnloadEvent) => event.preventDefault()

/** Returns the last change of documents, and the function that undoes it. */
export function useUndoChanges() {
  const queryClient = useQueryClient()
  const now = useSyncExternalStore(lastChange.subscribe, lastChange.current)
  const run = useCallback(async () => {
    const change = lastChange.begin()
    if (change === undefined) return
    const { collectionRef } = change
    // Not `useBlocker`: the undo continues on other pages.
    window.addEventListener('beforeunload', preventUnload)
    try {
      const outcome = await undoChanges(collectionRef, change.changes)
      settleChange(queryClient, collectionRef, outcome)
      lastChange.end(change, outcome)
    } finally {
      window.removeEventListener('beforeunload', preventUnload)
    }
  }, [queryClient])
  return { now, run: () => void run() }
}
