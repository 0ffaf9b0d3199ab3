import { closestCenter, DndContext, PointerSensor, useSensor, useSensors } from '@dnd-kit/core'
import { arrayMove, SortableContext, verticalListSortingStrategy } from '@dnd-kit/sortable'
import { useEffect, useRef } from 'react'
import { onKeys } from '../keys/use-keys.ts'
import { announce } from '../ui/announce.tsx'
import { missingFrom } from './mapping.ts'
import { type ItemAction, MappingItem } from './mapping-item.tsx'
import classes from './mapping-list.module.css'

/** What {@link MappingList} orders. */
export interface MappingListProps {
  readonly names: readonly string[]
  readonly existing: readonly string[] | undefined
  readonly onChange: (names: readonly string[]) => void
}

/** So far the pointer goes before it drags, px: a click is none. */
const DRAG_FROM = 4

// What is said of a drag is said by `announce`, as of the keys and buttons.
const silent = {
  onDragStart: () => undefined,
  onDragOver: () => undefined,
  onDragEnd: () => undefined,
  onDragCancel: () => undefined,
}

/**
 * The chosen databases in their order, to be dragged. Alt ↑↓ moves, Delete takes out; buttons do the
 * same.
 */
export function MappingList({ names, existing, onChange }: MappingListProps) {
  const list = useRef<HTMLOListElement>(null)
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_FROM } }),
  )
  // Moving an item takes it out of the page for a moment, and the focus with it.
  const refocus = useRef<{ name: string; action: ItemAction }>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each new order, and only then
  useEffect(() => {
    if (refocus.current === undefined) return
    const { name, action } = refocus.current
    refocus.current = undefined
    const item = list.current?.querySelector(`[data-name="${CSS.escape(name)}"]`)
    item?.querySelector<HTMLElement>(`[data-action="${action}"]`)?.focus()
  }, [names])

  const place = (name: string, to: number) => {
    if (to < 0 || to >= names.length || names.indexOf(name) === to) return
    onChange(arrayMove([...names], names.indexOf(name), to))
    announce(`${name} is ${to + 1} of ${names.length}${to === 0 ? ', the default' : ''}.`)
  }
  const move = (name: string, by: 1 | -1, action: ItemAction) => {
    refocus.current = { name, action }
    place(name, names.indexOf(name) + by)
  }
  const takeOut = (name: string) => {
    const at = names.indexOf(name)
    const next = names.toSpliced(at, 1)
    const neighbour = next[Math.min(at, next.length - 1)]
    if (neighbour !== undefined) refocus.current = { name: neighbour, action: 'out' }
    else list.current?.parentElement?.querySelector('input')?.focus()
    onChange(next)
    announce(`${name} was taken out.`)
  }

  const missing = missingFrom(names, existing)
  return (
    <DndContext
      sensors={sensors}
      collisionDetection={closestCenter}
      // The order goes up and down; a name that is pulled aside stays in its column.
      modifiers={[({ transform }) => ({ ...transform, x: 0 })]}
      accessibility={{ announcements: silent, restoreFocus: false }}
      onDragEnd={({ active, over }) => {
        if (over !== null) place(String(active.id), names.indexOf(String(over.id)))
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
                const action = (event.target as HTMLElement).dataset.action ?? 'out'
                onKeys('mapping', {
                  'move-up': () => move(name, -1, action as ItemAction),
                  'move-down': () => move(name, 1, action as ItemAction),
                  'take-out': () => takeOut(name),
                })(event)
              }}
              onMove={(by) => move(name, by, by === -1 ? 'up' : 'down')}
              onTakeOut={() => takeOut(name)}
            />
          ))}
        </ol>
      </SortableContext>
      {names.length === 0 && (
        <p className={classes.none}>None yet. Add a database, or choose All databases.</p>
      )}
    </DndContext>
  )
}
