import { createContext, type PropsWithChildren, useCallback, useContext, useState } from 'react'
import type { CollectionRef } from '../use-documents-location.ts'
import type { SelectionOutcome } from './change-selected.ts'
import { UndoChanges } from './undo-changes.tsx'

interface Change {
  readonly collectionRef: CollectionRef
  readonly outcome: SelectionOutcome
}

const ShowChange = createContext<(change: Change) => void>(() => {})

/** Returns a function that shows the outcome of a change, and offers to undo it. */
export const useShowChange = () => useContext(ShowChange)

/** Shows the last change of documents on the page. It may outlive the dialog that made the change. */
export function LastChange({ children }: PropsWithChildren) {
  const [change, setChange] = useState<Change & { readonly turn: number }>()
  const show = useCallback(
    (next: Change) => setChange((last) => ({ ...next, turn: (last?.turn ?? 0) + 1 })),
    [],
  )
  return (
    <ShowChange value={show}>
      {children}
      {change !== undefined && (
        <UndoChanges
          key={change.turn}
          collectionRef={change.collectionRef}
          outcome={change.outcome}
          onClose={() => setChange(undefined)}
        />
      )}
    </ShowChange>
  )
}
