import { useEffect, useId, useRef } from 'react'
import {
  type Icon,
  IconBolt,
  IconCertificate,
  IconDatabase,
  IconFile,
  IconFolder,
  IconKey,
  IconPlugConnected,
  IconUser,
  IconWebhook,
} from '../ui/icon/icons.tsx'
import classes from './search-dialog.module.css'
import { optionId, RESULTS_ID } from './search-field.tsx'
import type { Item, ResultKind } from './search-items.ts'

/** Results under a heading. */
export interface Group {
  readonly title: string
  readonly items: readonly Item[]
}

/** The heading of recent results. */
export const RECENT = 'Recent'

const kinds: Readonly<Record<ResultKind, { title: string; Icon: Icon }>> = {
  Page: { title: 'Pages', Icon: IconFile },
  Action: { title: 'Actions', Icon: IconBolt },
  Endpoint: { title: 'Endpoints', Icon: IconPlugConnected },
  Database: { title: 'Databases', Icon: IconDatabase },
  Collection: { title: 'Collections', Icon: IconFolder },
  Person: { title: 'People', Icon: IconUser },
  Token: { title: 'Tokens', Icon: IconKey },
  Certificate: { title: 'Certificates', Icon: IconCertificate },
  Webhook: { title: 'Webhooks', Icon: IconWebhook },
}

/** Returns results under the headings of their kinds; the kind of the first result comes first. */
export const groupByKind = (items: readonly Item[]): Group[] =>
  [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, items]) => ({
    title: kinds[kind].title,
    items,
  }))

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
  return (
    <div ref={list} id={RESULTS_ID} role="listbox" aria-label="Results" className={classes.results}>
      {groups.map(({ title, items }) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options, not of form fields
        <div key={title} role="group" aria-labelledby={`${id}-${title}`}>
          <div id={`${id}-${title}`} className={classes.title} role="presentation">
            {title}
          </div>
          {items.map((item) => (
            <Option
              key={item.id}
              item={item}
              active={item.id === active}
              named={title === RECENT}
              onChoose={onChoose}
            />
          ))}
        </div>
      ))}
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
  const { Icon } = kinds[item.kind]
  const isName = !['Page', 'Action', 'Person'].includes(item.kind)
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
