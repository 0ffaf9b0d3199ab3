import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { COLUMN_WIDTH, clamp } from '../model/columns.ts'
import classes from './document-table.module.css'

export interface ColumnResizerProps {
  readonly label: string
  readonly width: number
  /** Called with each new width. `done` is false while the pointer moves. */
  readonly onResize: (width: number, done: boolean) => void
}

/** Step of the arrow keys in pixels. */
const STEP = 16

/** The right edge of a column, which resizes it by pointer or arrow keys. */
export function ColumnResizer({ label, width, onResize }: ColumnResizerProps) {
  const drag = useRef<{ readonly from: number; readonly width: number }>(undefined)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    drag.current = { from: event.clientX, width }
  }
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (drag.current !== undefined)
      onResize(drag.current.width + clientX - drag.current.from, false)
  }
  const onEnd = () => {
    if (drag.current === undefined) return
    drag.current = undefined
    onResize(width, true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Partial<Record<string, number>> = { ArrowLeft: -STEP, ArrowRight: STEP }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    onResize(clamp(width + step), true)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that takes the focus is a widget
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${label}`}
      aria-valuemin={COLUMN_WIDTH.min}
      aria-valuemax={COLUMN_WIDTH.max}
      aria-valuenow={width}
      tabIndex={0}
      className={classes.resizer}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onEnd}
      onPointerCancel={onEnd}
      onKeyDown={onKeyDown}
    />
  )
}
