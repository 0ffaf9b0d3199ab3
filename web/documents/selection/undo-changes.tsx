import { Button } from '@mantine/core'
import { useCallback, useEffect, useRef, useState } from 'react'
import { UNDO_TIP, useUndoKey } from '../../shared/keys/use-undo-key.ts'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import { FloatingBar } from '../../shared/ui/overlay/floating-bars.tsx'
import { UndoBar, UndoFailure } from '../../shared/ui/overlay/undo-bar.tsx'
import type { CollectionRef } from '../use-documents-location.ts'
import { type SelectionOutcome, undoChanges } from './change-selected.ts'
import { describeOutcome, listFailures } from './describe-outcome.ts'
import { useChangeSelected } from './use-change-selected.ts'

/** How long an undo is offered, ms, and how long the bar stays after hover, focus or an undo. */
const UNDO_MS = 10_000
const MIN_AFTER_PAUSE_MS = 3_000

export interface UndoChangesProps {
  readonly collectionRef: CollectionRef
  readonly outcome: SelectionOutcome
  readonly onClose: () => void
}

/**
 * Shows the outcome of a change of documents, and offers for ten seconds to undo it, by button or
 * with Ctrl+Z or ⌘Z. Hover and focus pause the countdown. Failures stay until they are dismissed,
 * and an undo that failed for some documents is offered again for them.
 */
export function UndoChanges({ collectionRef, outcome, onClose }: UndoChangesProps) {
  const undo = useChangeSelected(collectionRef)
  const [deadline, setDeadline] = useState<number | undefined>(() => Date.now() + UNDO_MS)
  const shown = undo.data ?? outcome
  const { listed, unlisted } = listFailures(shown.failures)
  const stays = undo.isPending || shown.failures.length > 0
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    if (deadline === undefined || stays) return
    const timer = setTimeout(() => close.current(), Math.max(0, deadline - Date.now()))
    return () => clearTimeout(timer)
  }, [deadline, stays])
  const pause = () => setDeadline(undefined)
  const resume = useCallback(() => setDeadline(Date.now() + MIN_AFTER_PAUSE_MS), [])
  const failed = undo.data?.failures.map(({ id }) => id)
  const changes = outcome.changes.filter(({ before }) => failed?.includes(before.id) ?? true)
  const isOffered = changes.length > 0
  const run = () => undo.mutate(() => undoChanges(collectionRef, changes), { onSuccess: resume })
  useUndoKey(isOffered && !undo.isPending ? run : undefined)
  return (
    <FloatingBar>
      <UndoBar
        // A new status is not read: the outcome is announced.
        key={undo.data?.verb}
        isFailed={shown.failures.length > 0}
        onPause={pause}
        onResume={resume}
        onClose={onClose}
        action={
          isOffered && (
            <Button
              ref={keepFocus}
              variant="subtle"
              aria-disabled={undo.isPending || undefined}
              data-tip={UNDO_TIP}
              onClick={run}
            >
              {undo.isPending ? 'Undoing…' : failed === undefined ? 'Undo' : 'Undo again'}
            </Button>
          )
        }
      >
        <p>{describeOutcome(shown)}</p>
        {listed.map(({ id, reason }) => (
          <UndoFailure key={id} name={id} reason={reason} />
        ))}
        {unlisted !== undefined && <p>{unlisted}</p>}
      </UndoBar>
    </FloatingBar>
  )
}
