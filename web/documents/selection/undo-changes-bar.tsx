import { Button } from '@mantine/core'
import { UNDO_TIP, useUndoKey } from '../../shared/keys/use-undo-key.ts'
import { keepFocus } from '../../shared/ui/layout/keep-focus.ts'
import { UndoBar, UndoFailure } from '../../shared/ui/overlay/undo-bar.tsx'
import { describeOutcome, listFailures } from './describe-outcome.ts'
import { type LastChange, lastChange } from './last-change.ts'
import { useUndoChanges } from './use-undo-changes.ts'

/**
 * Shows the last change of documents, and offers to undo it, by button or with Ctrl+Z or ⌘Z. Hover
 * and focus pause the countdown.
 */
export function UndoChangesBar() {
  const { now, run } = useUndoChanges()
  const isOffered = now !== undefined && now.stage !== 'undoing' && now.changes.length > 0
  useUndoKey(isOffered ? run : undefined, now?.id)
  if (now === undefined) return null
  return <Bar key={now.id} now={now} onUndo={run} />
}

function Bar({ now, onUndo }: { now: LastChange; onUndo: () => void }) {
  const { outcome, changes, stage } = now
  const { listed, unlisted } = listFailures(outcome.failures)
  return (
    <UndoBar
      // A new status is not read: the outcome is announced.
      key={outcome.verb}
      isFailed={outcome.failures.length > 0}
      onPause={lastChange.pause}
      onResume={lastChange.resume}
      onClose={lastChange.dismiss}
      action={
        changes.length > 0 && (
          <Button
            ref={keepFocus}
            variant="subtle"
            aria-disabled={stage === 'undoing' || undefined}
            data-tip={UNDO_TIP}
            onClick={onUndo}
          >
            {stage === 'undoing' ? 'Undoing…' : stage === 'undone' ? 'Undo again' : 'Undo'}
          </Button>
        )
      }
    >
      <p>{describeOutcome(outcome)}</p>
      {listed.map(({ id, reason }) => (
        <UndoFailure key={id} name={id} reason={reason} />
      ))}
      {unlisted !== undefined && <p>{unlisted}</p>}
    </UndoBar>
  )
}
