import { useSortable } from '@dnd-kit/sortable'
import { CSS } from '@dnd-kit/utilities'
import type { KeyboardEvent } from 'react'
import { IconArrowDown, IconArrowUp, IconGripVertical, IconX } from '../../../ui/icon/icons.tsx'
import { IconButton } from '../../../ui/layout/icon-button.tsx'
import classes from './mapping-list.module.css'

/** Values of `data-action` on the buttons of an item. */
export type ItemAction = 'up' | 'down' | 'remove'

export interface MappingItemProps {
  readonly name: string
  readonly index: number
  readonly count: number
  /** Whether no database has this name. */
  readonly missing: boolean
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onMove: (by: 1 | -1) => void
  readonly onRemove: () => void
}

/** A database in a mapping list, dragged by its name, with buttons to move it and take it out. */
export function MappingItem(props: MappingItemProps) {
  const { name, index, count, missing, onKeyDown, onMove, onRemove } = props
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches
  const sortable = useSortable({ id: name, ...(still && { transition: null }) })
  const { setNodeRef, listeners, transform, transition, isDragging, newIndex } = sortable
  // While an item is dragged, show each item's new position.
  const first = (sortable.isSorting ? newIndex : index) === 0
  return (
    <li
      ref={setNodeRef}
      data-name={name}
      data-dragging={isDragging || undefined}
      className={classes.item}
      style={{ transform: CSS.Translate.toString(transform), transition }}
      onKeyDown={onKeyDown}
    >
      <span className={classes.handle} {...listeners}>
        <IconGripVertical className={classes.grip} />
        <span className={classes.text}>
          <span className="mono">{name}</span>
          {first && <span className={classes.note}>default</span>}
          {missing && <span className={classes.note}>does not exist</span>}
        </span>
      </span>
      <span className={classes.actions}>
        <IconButton
          aria-label={`Move ${name} up`}
          data-tip="Move up (Alt and arrow up)"
          data-action={'up' satisfies ItemAction}
          aria-disabled={index === 0 || undefined}
          onClick={() => onMove(-1)}
        >
          <IconArrowUp />
        </IconButton>
        <IconButton
          aria-label={`Move ${name} down`}
          data-tip="Move down (Alt and arrow down)"
          data-action={'down' satisfies ItemAction}
          aria-disabled={index === count - 1 || undefined}
          onClick={() => onMove(1)}
        >
          <IconArrowDown />
        </IconButton>
        <IconButton
          aria-label={`Remove ${name}`}
          data-tip="Remove (Delete)"
          data-action={'remove' satisfies ItemAction}
          onClick={onRemove}
        >
          <IconX />
        </IconButton>
      </span>
    </li>
  )
}
