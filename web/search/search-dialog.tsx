import { useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { useLayer } from '../keys/use-layer.ts'
import { usePresence } from '../person.ts'
import { databasesQuery, endpointsQuery } from '../queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { find } from './match.ts'
import { recentIds, rememberId } from './recent.ts'
import classes from './search-dialog.module.css'
import { SearchField } from './search-field.tsx'
import { databaseItems, endpointItems, givenItems, type Item } from './search-items.ts'
import { type Group, RECENT, SearchResults } from './search-results.tsx'

/** More than these nobody reads: one types on instead. */
const MOST = 50

/** Finds pages, actions, endpoints and databases, within one's role, and goes there. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const { person } = usePresence()
  const endpoints = useQuery(endpointsQuery)
  const databases = useQuery(databasesQuery)
  const [question, setQuestion] = useState('')
  const [active, setActive] = useState(0)
  const choose = useChoose(person.id)
  const chosen = useRef(false)

  const items = useMemo(
    () => [
      ...givenItems(person.role),
      ...databaseItems(databases.data ?? []),
      ...endpointItems((endpoints.data ?? []).map(({ endpoint }) => endpoint)),
    ],
    [person.role, databases.data, endpoints.data],
  )
  const asked = question.trim() !== ''
  const found = useMemo(
    () => (asked ? find(items, question, MOST) : undefined),
    [items, question, asked],
  )
  const groups = found === undefined ? offered(items, person.id) : [{ items: found.best }]
  const flat = groups.flatMap((group) => group.items)
  // What was active may be gone when the list becomes another.
  const at = Math.min(active, flat.length - 1)
  const go = (item: Item | undefined) => {
    if (item === undefined) return
    chosen.current = true
    choose(item)
  }
  const loading = endpoints.isPending || databases.isPending
  const failed = endpoints.error ?? databases.error
  return (
    <Dialog
      title="Search"
      width={640}
      bare
      onClose={onClose}
      returnTo={() => (chosen.current ? document.querySelector('main') : null)}
    >
      <SearchField
        question={question}
        active={flat[at]?.id}
        count={flat.length}
        onChange={(text) => {
          setQuestion(text)
          setActive(0)
        }}
        onStep={(step) => setActive((at + step + flat.length) % Math.max(flat.length, 1))}
        onChoose={() => go(flat[at])}
        onClose={onClose}
      />
      <SearchResults groups={groups} active={flat[at]?.id} onChoose={go} />
      <p role="status" className={flat.length > 0 ? classes.foot : classes.nothing}>
        {flat.length === 0 && `No page, action, database or endpoint matches “${question.trim()}”.`}
        {found !== undefined && flat.length > 0 && sayCount(flat.length, found.count)}
        {loading && ' Endpoints and databases are still being loaded.'}
      </p>
      {failed !== null && (
        <p role="alert" className={classes.fault}>
          Endpoints or databases could not be loaded, and are not found. {failed.message}
        </p>
      )}
    </Dialog>
  )
}

const sayCount = (shown: number, all: number): string =>
  shown < all
    ? `The best ${shown} of ${all.toLocaleString('en')}. Type more to see others.`
    : `${all} ${all === 1 ? 'result' : 'results'}`

/** What stands there before anything is typed: what was chosen last, then pages and actions. */
function offered(items: readonly Item[], person: string): readonly Group[] {
  const recent = recentIds(person).flatMap((id) => items.find((item) => item.id === id) ?? [])
  const rest = (kind: Item['kind']) =>
    items.filter((item) => item.kind === kind && !recent.includes(item))
  return [
    { title: RECENT, items: recent },
    { title: 'Pages', items: rest('Page') },
    { title: 'Actions', items: rest('Action') },
  ].filter((group) => group.items.length > 0)
}

function useChoose(person: string) {
  const navigate = useNavigate()
  const { open, close } = useLayer()
  const { setColorScheme } = useMantineColorScheme()
  return ({ id, goal }: Item) => {
    rememberId(person, id)
    // In place of the search itself: going back leads to the page before it.
    if ('to' in goal) void navigate({ ...goal, hash: '', replace: true } as { to: string })
    else if (goal.act === 'keys') open('keys')
    else {
      setColorScheme(goal.act)
      close()
    }
  }
}
