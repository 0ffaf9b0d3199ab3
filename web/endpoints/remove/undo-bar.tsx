import { Button } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { type FocusEvent, useEffect, useRef } from 'react'
import { IconButton } from '../ui/icon-button.tsx'
import { type Undo, undo } from './undo.ts'
import classes from './undo-bar.module.css'

/** So many reasons are told; the others are counted. */
const TOLD = 3

/**
 * What can be done after a removal: take it back, for ten seconds, or go on elsewhere after that of
 * one's own endpoint. Its time stands still while it is pointed at or focused.
 */
export function UndoBar({ now, onTakeBack }: { now: Undo; onTakeBack: () => void }) {
  const bar = useRef<HTMLElement>(null)
  useEffect(() => {
    // Held by a pointer that rests there or by the focus: either of the two is enough.
    const at = bar.current
    const letGo = () => {
      if (at?.matches(':hover, :focus-within') !== true) undo.release()
    }
    at?.addEventListener('pointerleave', letGo)
    return () => at?.removeEventListener('pointerleave', letGo)
  }, [])
  const onBlur = ({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) => {
    const within = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
    if (!within && !currentTarget.matches(':hover')) undo.release()
  }
  return (
    <section
      ref={bar}
      aria-label="After the removal"
      className={classes.bar}
      data-undo=""
      onPointerEnter={undo.hold}
      onFocus={undo.hold}
      onBlur={onBlur}
    >
      <div className={classes.text} role={now.stage === 'failed' ? 'alert' : 'status'}>
        <Words now={now} />
      </div>
      <div className={classes.actions}>
        {now.stage === 'way-out' ? (
          <Button component="a" variant="subtle" href={now.url}>
            Open the console at {now.to}
          </Button>
        ) : (
          <Button
            variant="subtle"
            aria-disabled={now.stage === 'restoring' || undefined}
            data-tip="Ctrl Z or ⌘ Z"
            onClick={onTakeBack}
          >
            {labels[now.stage]}
          </Button>
        )}
        {now.stage !== 'restoring' && (
          <IconButton aria-label="Close" onClick={undo.dismiss}>
            <IconX size={16} stroke={1.5} aria-hidden="true" />
          </IconButton>
        )}
      </div>
    </section>
  )
}

const labels = { offered: 'Undo', restoring: 'Bringing back…', failed: 'Try again' } as const

function Words({ now }: { now: Undo }) {
  if (now.stage === 'failed') {
    const { failures } = now
    const more = failures.length - TOLD
    return (
      <>
        {failures.slice(0, TOLD).map(({ record, reason }) => (
          <p key={record.endpoint}>
            <span className="mono">{record.endpoint}</span> is not back.{' '}
            <span className={classes.reason}>{reason}</span>
          </p>
        ))}
        {more > 0 && <p>{more} more are not back either.</p>}
      </>
    )
  }
  if (now.stage === 'way-out') return <Removed address={now.removed} />
  const [first, ...others] = now.removed
  return others.length === 0 && first !== undefined ? (
    <Removed address={first.endpoint} />
  ) : (
    <p>{now.removed.length} endpoints were removed.</p>
  )
}

const Removed = ({ address }: { address: string }) => (
  <p>
    <span className="mono">{address}</span> was removed.
  </p>
)
