import { closestCenter, DndContext, PointerSensor, useSensor, useSensors } from '@dnd-kit/core'
import {
  arrayMove,
  SortableContext,
  useSortable,
  verticalListSortingStrategy,
} from '@dnd-kit/sortable'
import { CSS as DragStyle } from '@dnd-kit/utilities'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { onKeys } from '../../../shared/keys/use-keys.ts'
import { announce } from '../../../ui/announce.tsx'
import { IconArrowDown, IconArrowUp, IconGripVertical, IconX } from '../../../ui/icon/icons.tsx'
import { IconButton } from '../../../ui/layout/icon-button.tsx'
import { useEscape } from '../../../ui/overlay/use-escape.ts'
import { missingDatabases } from '../../model/mapping.ts'
import classes from './mapping-list.module.css'

export interface MappingListProps {
  readonly names: readonly string[]
  readonly existing: readonly string[] | undefined
  readonly onChange: (names: readonly string[]) => void
}

/** Distance in px after which a pointer movement is a drag and not a click. */
const DRAG_FROM = 4

// Screen reader messages go through `announce`, as for keys and buttons.
const silent = {
  onDragStart: () => undefined,
  onDragOver: () => undefined,
  onDragEnd: () => undefined,
  onDragCancel: () => undefined,
}

/**
 * The ordered list of chosen databases, sortable by dragging. Alt+↑/↓ moves an item and Delete
 * removes it, as do its buttons.
 */
export function MappingList({ names, existing, onChange }: MappingListProps) {
  const list = useRef<HTMLOListElement>(null)
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_FROM } }),
  )
  const [dragging, setDragging] = useState(false)
  // Escape cancels a drag before it closes the dialog.
  useEscape('field', dragging ? 'own' : undefined)
  // Reordering removes the moved item from the document for a moment, which loses the focus.
  const refocus = useRef<{ name: string; action: ItemAction }>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only after the order has changed
  useEffect(() => {
    if (refocus.current === undefined) return
    const { name, action } = refocus.current
    refocus.current = undefined
    const item = list.current?.querySelector(`[data-name="${CSS.escape(name)}"]`)
    item?.querySelector<HTMLElement>(`[data-action="${action}"]`)?.focus()
  }, [names])

  const moveTo = (name: string, to: number) => {
    if (to < 0 || to >= names.length || names.indexOf(name) === to) return
    onChange(arrayMove([...names], names.indexOf(name), to))
    announce(`${name} is ${to + 1} of ${names.length}${to === 0 ? ', the default' : ''}.`)
  }
  const move = (name: string, by: 1 | -1, action: ItemAction) => {
    refocus.current = { name, action }
    moveTo(name, names.indexOf(name) + by)
  }
  const removeName = (name: string) => {
    const at = names.indexOf(name)
    const next = names.toSpliced(at, 1)
    const neighbor = next[Math.min(at, next.length - 1)]
    if (neighbor !== undefined) refocus.current = { name: neighbor, action: 'remove' }
    else list.current?.parentElement?.querySelector('input')?.focus()
    onChange(next)
    announce(`${name} was removed.`)
  }

  const missing = missingDatabases(names, existing)
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      // Restrict dragging to the vertical axis.
      modifiers={[({ transform }) => ({ ...transform, x: 0 })]}
      accessibility={{ announcements: silent, restoreFocus: false }}
      onDragStart={() => setDragging(true)}
      onDragCancel={() => setDragging(false)}
      onDragEnd={({ active, over }) => {
        setDragging(false)
        if (over !== null) moveTo(String(active.id), names.indexOf(String(over.id)))
      }}
    >
      <SortableContext items={[...names]} strategy={verticalListSortingStrategy}>
        <ol ref={list} className={classes.list} aria-label="Databases in order">
          {names.map((name, index) => (
            <MappingItem
              key={name}
              name={name}
              index={index}
              count={names.length}
              missing={missing.includes(name)}
              onKeyDown={(event) => {
                const action = (event.target as HTMLElement).dataset.action ?? 'remove'
                onKeys('mapping', {
                  'move-up': () => move(name, -1, action as ItemAction),
                  'move-down': () => move(name, 1, action as ItemAction),
                  'remove-database': () => removeName(name),
                })(event)
              }}
              onMove={(by) => move(name, by, by === -1 ? 'up' : 'down')}
              onRemove={() => removeName(name)}
            />
          ))}
        </ol>
      </SortableContext>
      {names.length === 0 && <p className={classes.none}>No database chosen. Add or create one.</p>}
    </DndContext>
  )
}

/** Values of `data-action` on the buttons of an item. */
type ItemAction = 'up' | 'down' | 'remove'

interface MappingItemProps {
  readonly name: string
  readonly index: number
  readonly count: number
  /** Whether no database has this name. */
  readonly missing: boolean
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onMove: (by: 1 | -1) => void
  readonly onRemove: () => void
}

/** A database in a mapping list, dragged by its name, with buttons that move and remove it. */
function MappingItem(props: MappingItemProps) {
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
      style={{ transform: DragStyle.Translate.toString(transform), transition }}
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
