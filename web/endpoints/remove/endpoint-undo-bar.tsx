import { Button } from '@mantine/core'
import { type FocusEvent, useEffect, useRef } from 'react'
import { IconX } from '../../shared/ui/icon/icons.tsx'
import { IconButton } from '../../shared/ui/layout/icon-button.tsx'
import classes from '../../shared/ui/overlay/undo-bar.module.css'
import type { EndpointChange } from '../guard/check-changes.ts'
import { type Undo, undo } from '../model/undo.ts'

/** Maximum number of reasons shown; the rest is only counted. */
const MAX_REASONS = 3

/**
 * Offers for ten seconds to undo a change of endpoints, or links to the console at another endpoint
 * after a change that disconnected this page. Hover and focus pause the countdown.
 */
export function UndoBar({ now, onUndo }: { now: Undo; onUndo: () => void }) {
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    // Release only once the bar is neither hovered nor focused.
    const at = bar.current
    const release = () => {
      if (at?.matches(':hover, :focus-within') !== true) undo.release()
    }
    at?.addEventListener('pointerleave', release)
    return () => at?.removeEventListener('pointerleave', release)
  }, [])
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    const within = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
    if (!within && !currentTarget.matches(':hover')) undo.release()
  }
  return (
    <section
      ref={bar}
      aria-label="Last change"
      className={classes.bar}
      data-undo=""
      onPointerEnter={undo.hold}
      onFocus={undo.hold}
      onBlur={onBlur}
    >
      <div className={classes.text} role={now.stage === 'failed' ? 'alert' : 'status'}>
        <UndoText now={now} />
      </div>
      <div className={classes.actions}>
        {now.stage === 'disconnected' ? (
          <Button component="a" variant="subtle" href={now.otherConsole.url}>
            Open the console at {now.otherConsole.address}
          </Button>
        ) : (
          <Button
            variant="subtle"
            aria-disabled={now.stage === 'undoing' || undefined}
            data-tip="Ctrl Z or ⌘ Z"
            onClick={onUndo}
          >
            {labels[now.stage]}
          </Button>
        )}
        {now.stage !== 'undoing' && (
          <IconButton aria-label="Close" onClick={undo.dismiss}>
            <IconX />
          </IconButton>
        )}
      </div>
    </section>
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
          <p key={change.address}>
            <span className="mono">{change.address}</span>{' '}
            {change.after === null ? 'could not be restored.' : 'could not be changed back.'}{' '}
            <span className={classes.reason}>{reason}</span>
          </p>
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
