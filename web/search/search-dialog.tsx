import { useMantineColorScheme } from '@mantine/core'
import { useMemo, useRef, useState } from 'react'
import { usePresence } from '../api/session/person.ts'
import { sharedStorage } from '../shared/browser-storage.ts'
import { useLayer } from '../shared/keys/use-layer.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { find } from './match.ts'
import classes from './search-dialog.module.css'
import { SearchField } from './search-field.tsx'
import { builtInItems, findCollection, type Item } from './search-items.ts'
import { type Group, groupByKind, RECENT, SearchResults } from './search-results.tsx'
import { useCollectionItems } from './use-collection-items.ts'
import { useListItems } from './use-list-items.ts'

/** Maximum number of results of each kind. */
const MAX_RESULTS = 10

export interface SearchDialogProps {
  readonly query: string
  readonly onChange: (query: string) => void
  /** Called when the field has received the focus. */
  readonly onFocus: () => void
  readonly onClose: () => void
}

/** Searches the pages and actions, and all that has a name, as far as the person may see them. */
export function SearchDialog({ query, onChange, onFocus, onClose }: SearchDialogProps) {
  const { person } = usePresence()
  const lists = useListItems()
  const collections = useCollectionItems(query)
  const [active, setActive] = useState(0)
  const choose = useSelectResult(person.id)
  const chosen = useRef(false)

  const items = useMemo(
    () => [...builtInItems(person), ...lists.items, ...collections.items],
    [person, lists.items, collections.items],
  )
  const hasQuery = query.trim() !== ''
  const found = useMemo(
    () => (hasQuery ? find(items, query, MAX_RESULTS) : undefined),
    [items, query, hasQuery],
  )
  const groups =
    found === undefined ? groupItems(items, person.id, lists.databases) : groupByKind(found.best)
  const flat = groups.flatMap((group) => group.items)
  // The list may have become shorter than the active index.
  const at = Math.min(active, flat.length - 1)
  const go = (item: Item | undefined) => {
    if (item === undefined) return
    chosen.current = true
    choose(item)
  }
  const loading = lists.isLoading || collections.isLoading
  const failed = lists.error ?? collections.error
  return (
    <Dialog
      title="Search"
      width={640}
      bare
      palette
      onClose={onClose}
      returnTo={() => (chosen.current ? document.querySelector('main') : null)}
    >
      <SearchField
        query={query}
        active={flat[at]?.id}
        count={flat.length}
        onChange={(text) => {
          onChange(text)
          setActive(0)
        }}
        onFocus={onFocus}
        onStep={(steps) => setActive(stepFrom(at, steps, flat.length))}
        onChoose={() => go(flat[at])}
        onClose={onClose}
      />
      <SearchResults groups={groups} active={flat[at]?.id} onChoose={go} />
      <p role="status" className={flat.length > 0 ? classes.foot : classes.empty}>
        {flat.length === 0 && `Nothing matches “${query.trim()}”.`}
        {found !== undefined && flat.length > 0 && formatResults(flat.length, found.count)}
        {loading && ' Some lists are still loading.'}
      </p>
      {hasQuery && collections.unsearched !== undefined && (
        <p className={classes.note}>{collections.unsearched}</p>
      )}
      {failed !== null && (
        <p role="alert" className={classes.error}>
          Some lists could not be loaded, so results may be missing. {failed.message}
        </p>
      )}
    </Dialog>
  )
}

/**
 * Returns the index of the result `steps` away. A single step wraps around at the ends; a page stops
 * there.
 */
const stepFrom = (at: number, steps: number, count: number): number =>
  Math.abs(steps) === 1
    ? (at + steps + count) % Math.max(count, 1)
    : Math.max(0, Math.min(at + steps, count - 1))

const formatResults = (shown: number, all: number): string =>
  shown < all
    ? `${shown} of ${formatCount(all)} results. Type more to narrow them down.`
    : `${all} ${all === 1 ? 'result' : 'results'}.`

/** Returns what is shown before typing: recent results, pages and actions. */
function groupItems(
  items: readonly Item[],
  person: string,
  databases: readonly string[],
): readonly Group[] {
  const recent = recentIds(person).flatMap(
    (id) => items.find((item) => item.id === id) ?? findCollection(id, databases) ?? [],
  )
  const rest = items.filter(
    (item) => (item.kind === 'Page' || item.kind === 'Action') && !recent.includes(item),
  )
  return [...(recent.length > 0 ? [{ title: RECENT, items: recent }] : []), ...groupByKind(rest)]
}

function useSelectResult(person: string) {
  const { leave } = useDialogNavigation()
  const { open, close } = useLayer()
  const { setColorScheme } = useMantineColorScheme()
  return ({ id, target }: Item) => {
    rememberId(person, id)
    // The search leaves no history entry, so that Back leads to the page before it.
    if ('to' in target) leave({ ...target, hash: '' })
    else if (target.act === 'keys') open('keys')
    else {
      setColorScheme(target.act)
      close()
    }
  }
}

const RECENT_PREFIX = 'gatehouse-found:'

/** Maximum number of remembered results. */
const MAX_RECENT = 5

/** Returns the ids of the user's latest search results in this browser, newest first. */
function recentIds(person: string): readonly string[] {
  const ids = sharedStorage.getJson(RECENT_PREFIX + person)
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

/** Remembers a search result that a user chose. */
function rememberId(person: string, id: string): void {
  const ids = [id, ...recentIds(person).filter((each) => each !== id)].slice(0, MAX_RECENT)
  sharedStorage.set(RECENT_PREFIX + person, JSON.stringify(ids))
}
