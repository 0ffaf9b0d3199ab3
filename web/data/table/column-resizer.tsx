import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { COLUMN_WIDTH } from '../model/columns.ts'
import classes from './document-table.module.css'

export interface ColumnResizerProps {
  readonly label: string
  readonly width: number
  /** Called with each new width. `done` is false while the pointer moves. */
  readonly onResize: (width: number, done: boolean) => void
}

/** Step of the arrow keys in pixels. */
export const RESIZE_STEP = 16

/**
 * The right edge of a column, which resizes it by pointer. A double-click fits the column to its
 * values. Keys do the same once it has the focus, but it is no tab stop: there would be one for each
 * column, and the header resizes the column as well.
 */
export function ColumnResizer({ label, width, onResize }: ColumnResizerProps) {
  const drag = useRef<{ readonly from: number; readonly width: number; moved: boolean }>(undefined)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId)
    drag.current = { from: event.clientX, width, moved: false }
  }
  const onPointerMove = ({ clientX }: PointerEvent) => {
    if (drag.current === undefined || clientX === drag.current.from) return
    drag.current.moved = true
    onResize(drag.current.width + clientX - drag.current.from, false)
  }
  const onEnd = () => {
    const moved = drag.current?.moved === true
    drag.current = undefined
    if (moved) onResize(width, true)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const widths: Partial<Record<string, () => number>> = {
      ArrowLeft: () => width - RESIZE_STEP,
      ArrowRight: () => width + RESIZE_STEP,
      Enter: () => contentWidth(event.currentTarget),
    }
    const next = widths[event.key]
    if (next === undefined) return
    event.preventDefault()
    onResize(next(), true)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator with a value is a widget
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${label}`}
      aria-valuemin={COLUMN_WIDTH.min}
      aria-valuemax={COLUMN_WIDTH.max}
      aria-valuenow={width}
      tabIndex={-1}
      className={classes.resizer}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onEnd}
      onPointerCancel={onEnd}
      onDoubleClick={({ currentTarget }) => onResize(contentWidth(currentTarget), true)}
      onKeyDown={onKeyDown}
    />
  )
}

/** What a cell needs besides its text, and a header for the arrow of the order, in pixels. */
const PADDING = 26
const ARROW = 14

/** Returns the width that the column of an element needs for its values and its header. */
function contentWidth(element: HTMLElement): number {
  const head = element.closest('th')
  const table = element.closest('table')
  if (head === null || table === null) return COLUMN_WIDTH.default
  const range = document.createRange()
  const widths = [...table.rows].map((row) => {
    const cell = row.cells[head.cellIndex]
    if (cell === undefined) return 0
    // The text, because the elements around it have the width of the column.
    range.selectNodeContents(
      (cell === head ? head.querySelector('bdi') : cell.firstElementChild) ?? cell,
    )
    const text = range.getBoundingClientRect().width
    return cell === head ? text + ARROW : text
  })
  return Math.ceil(Math.max(...widths) + PADDING)
}
