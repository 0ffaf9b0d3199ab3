import { ActionIcon } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { announce } from '../ui/announce.tsx'
import { missingFrom } from './mapping.ts'
import classes from './mapping-list.module.css'

/** What {@link MappingList} orders. */
export interface MappingListProps {
  readonly names: readonly string[]
  readonly existing: readonly string[] | undefined
  readonly onChange: (names: readonly string[]) => void
}

/** The chosen databases in their order. Alt ↑↓ moves, Delete takes out; buttons do the same. */
export function MappingList({ names, existing, onChange }: MappingListProps) {
  const list = useRef<HTMLOListElement>(null)
  // Moving an item takes it out of the page for a moment, and the focus with it.
  const refocus = useRef<{ name: string; action: string }>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each new order, and only then
  useEffect(() => {
    if (refocus.current === undefined) return
    const { name, action } = refocus.current
    refocus.current = undefined
    const item = list.current?.querySelector(`[data-name="${CSS.escape(name)}"]`)
    item?.querySelector<HTMLElement>(`[data-action="${action}"]`)?.focus()
  }, [names])

  const move = (name: string, by: 1 | -1, action: string) => {
    const from = names.indexOf(name)
    const to = from + by
    if (to < 0 || to >= names.length) return
    const next = names.toSpliced(from, 1).toSpliced(to, 0, name)
    refocus.current = { name, action }
    onChange(next)
    announce(`${name} is ${to + 1} of ${names.length}${to === 0 ? ', the default' : ''}.`)
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
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const name = event.currentTarget.dataset.name ?? ''
    const action = (event.target as HTMLElement).dataset.action ?? 'out'
    if (event.altKey && event.key === 'ArrowUp') move(name, -1, action)
    else if (event.altKey && event.key === 'ArrowDown') move(name, 1, action)
    else if (event.key === 'Delete') takeOut(name)
    else return
    event.preventDefault()
  }

  const missing = missingFrom(names, existing)
  const icon = { size: 16, stroke: 1.5, 'aria-hidden': true } as const
  if (names.length === 0) return <ol ref={list} hidden />
  return (
    <ol ref={list} className={classes.list} aria-label="Databases in order">
      {names.map((name, index) => (
        <li key={name} data-name={name} className={classes.item} onKeyDown={onKeyDown}>
          <span className={`mono ${classes.name}`}>{name}</span>
          {index === 0 && <span className={classes.note}>default</span>}
          {missing.includes(name) && <span className={classes.note}>does not exist yet</span>}
          <span className={classes.actions}>
            <ActionIcon
              aria-label={`Move ${name} up`}
              data-tip="Move up (Alt and arrow up)"
              data-action="up"
              aria-disabled={index === 0 || undefined}
              onClick={() => move(name, -1, 'up')}
            >
              <IconArrowUp {...icon} />
            </ActionIcon>
            <ActionIcon
              aria-label={`Move ${name} down`}
              data-tip="Move down (Alt and arrow down)"
              data-action="down"
              aria-disabled={index === names.length - 1 || undefined}
              onClick={() => move(name, 1, 'down')}
            >
              <IconArrowDown {...icon} />
            </ActionIcon>
            <ActionIcon
              aria-label={`Take out ${name}`}
              data-tip="Take out (Delete)"
              data-action="out"
              onClick={() => takeOut(name)}
            >
              <IconX {...icon} />
            </ActionIcon>
          </span>
        </li>
      ))}
    </ol>
  )
}
