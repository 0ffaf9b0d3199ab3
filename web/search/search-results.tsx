import { useEffect, useId, useRef } from 'react'
import {
  type Icon,
  IconBolt,
  IconDatabase,
  IconFile,
  IconFolder,
  IconPlugConnected,
} from '../ui/icon/icons.tsx'
import classes from './search-dialog.module.css'
import { optionId, RESULTS_ID } from './search-field.tsx'
import type { Item, ResultKind } from './search-items.ts'

/** Results under a heading. Without a title, all results by score. */
export interface Group {
  readonly title?: string
  readonly items: readonly Item[]
}

/** The heading of recent results. */
export const RECENT = 'Recent'

const icons: Readonly<Record<ResultKind, Icon>> = {
  Page: IconFile,
  Action: IconBolt,
  Endpoint: IconPlugConnected,
  Database: IconDatabase,
  Collection: IconFolder,
}

/** The list of a combobox, scrolled to the active result. */
export function SearchResults({
  groups,
  active,
  onChoose,
}: {
  groups: readonly Group[]
  active: string | undefined
  onChoose: (item: Item) => void
}) {
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  useEffect(() => {
    if (active === undefined) return
    document.getElementById(optionId(active))?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const options = (items: readonly Item[], named: boolean) =>
    items.map((item) => (
      <Option
        key={item.id}
        item={item}
        active={item.id === active}
        named={named}
        onChoose={onChoose}
      />
    ))
  return (
    <div ref={list} id={RESULTS_ID} role="listbox" aria-label="Results" className={classes.results}>
      {groups.map(({ title, items }) =>
        title === undefined ? (
          options(items, true)
        ) : (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, not of form fields
          <div key={title} role="group" aria-labelledby={`${id}-${title}`}>
            <div id={`${id}-${title}`} className={classes.title} role="presentation">
              {title}
            </div>
            {options(items, title === RECENT)}
          </div>
        ),
      )}
    </div>
  )
}

function Option({
  item,
  active,
  named,
  onChoose,
}: {
  item: Item
  active: boolean
  /** Whether to show the kind, because the heading does not name it. */
  named: boolean
  onChoose: (item: Item) => void
}) {
  const Icon = icons[item.kind]
  const isName = item.kind !== 'Page' && item.kind !== 'Action'
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
    <div
      id={optionId(item.id)}
      role="option"
      aria-selected={active}
      className={classes.option}
      // Keeps the focus in the field.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => onChoose(item)}
    >
      <Icon />
      <span className={isName ? `mono ${classes.label}` : classes.label}>{item.label}</span>
      {item.note !== undefined && <span className={classes.about}>{item.note}</span>}
      {named && <span className={classes.kind}>{item.kind}</span>}
    </div>
  )
}
