import { Button } from '@mantine/core'
import { UNDO_TIP } from '../../shared/keys/use-undo-key.ts'
import { UndoBar, UndoFailure } from '../../shared/ui/overlay/undo-bar.tsx'
import type { EndpointChange } from '../guard/check-changes.ts'
import { type Undo, undo } from '../model/undo.ts'

/** Maximum number of reasons shown; the rest is only counted. */
const MAX_REASONS = 3

/**
 * Offers for ten seconds to undo a change of endpoints, or links to the console at another endpoint
 * after a change that disconnected this page. Hover and focus pause the countdown.
 */
export function EndpointUndoBar({ now, onUndo }: { now: Undo; onUndo: () => void }) {
  return (
    <UndoBar
      isFailed={now.stage === 'failed'}
      onPause={undo.pause}
      onResume={undo.resume}
      onClose={now.stage === 'undoing' ? undefined : undo.dismiss}
      action={
        now.stage === 'disconnected' ? (
          <Button component="a" variant="subtle" href={now.otherConsole.url}>
            Open the console at {now.otherConsole.address}
          </Button>
        ) : (
          <Button
            variant="subtle"
            aria-disabled={now.stage === 'undoing' || undefined}
            data-tip={UNDO_TIP}
            onClick={onUndo}
          >
            {labels[now.stage]}
          </Button>
        )
      }
    >
      <UndoText now={now} />
    </UndoBar>
  )
}

const labels = { offered: 'Undo', undoing: 'Undoing…', failed: 'Try again' } as const

function UndoText({ now }: { now: Undo }) {
  if (now.stage === 'failed') {
    const { failures } = now
    const more = failures.length - MAX_REASONS
    return (
      <>
        {failures.slice(0, MAX_REASONS).map(({ change, reason }) => (
          <UndoFailure key={change.address} name={change.address} reason={reason}>
            {change.after === null ? 'could not be restored.' : 'could not be changed back.'}
          </UndoFailure>
        ))}
        {more > 0 && <p>{more} more changes could not be undone.</p>}
      </>
    )
  }
  const changes = now.stage === 'disconnected' ? [now.change] : now.changes
  const [first, ...others] = changes
  if (first !== undefined && others.length === 0) return <Changed change={first} />
  return <p>{formatPlural(changes)}</p>
}

function Changed({ change: { address, before, after } }: { change: EndpointChange }) {
  const name = <span className="mono">{address}</span>
  if (after === null) return <p>{name} was removed.</p>
  if (before === null) return <p>{name} was added.</p>
  return <p>The mapping of {name} was saved.</p>
}

function formatPlural(changes: readonly EndpointChange[]): string {
  const removed = changes.every(({ after }) => after === null)
  return `${changes.length} endpoints were ${removed ? 'removed' : 'changed'}.`
}
