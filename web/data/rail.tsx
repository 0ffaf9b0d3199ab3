import { useMediaQuery } from '@mantine/hooks'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { collectionsQuery, databasesQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import { useIsServedHere } from '../api/session/use-is-served-here.ts'
import { sharedStorage } from '../shared/browser-storage.ts'
import { FilterField } from '../ui/form/filter-field.tsx'
import { filterByName } from '../ui/form/name-filter.tsx'
import { useFilterText } from '../ui/form/use-filter-text.ts'
import { IconChevronLeft, IconChevronRight, IconPlus } from '../ui/icon/icons.tsx'
import { IconButton } from '../ui/layout/icon-button.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import { isPanelOpen } from './data-search.ts'
import { sizesQuery } from './databases/sizes-query.ts'
import classes from './rail.module.css'
import { useDataLocation } from './use-data-location.ts'

/** Maximum databases, and collections of each, to list; a filter finds the rest. */
const MAX_LISTED = 200

const HIDDEN = 'gatehouse-rail-hidden'

/** Window widths at which the rail is hidden beside a panel until the user shows it. */
const YIELDS_TO_PANEL = '(min-width: 1240px) and (max-width: 1399px)'

/** Poll interval of the counts, ms. */
const COUNTS_MS = 10_000

/** Lists the databases with their collections and counts of documents, and marks the current one. */
export function Rail() {
  const { database: current, search, createDatabase } = useDataLocation()
  const mayCreate = useHasRole('operator')
  const [text, filter] = useFilterText('/data')
  const [isHidden, setHidden] = useState(() => sharedStorage.get(HIDDEN) !== undefined)
  const yields = useMediaQuery(YIELDS_TO_PANEL, undefined, { getInitialValueInEffect: false })
  const [isKept, setKept] = useState(false)
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map())
  const { data: names = [] } = useQuery(databasesQuery)
  const { data: sizes = [] } = useQuery(sizesQuery)
  const isServedHere = useIsServedHere()
  const isOpen = (name: string) => toggled.get(name) ?? name === current
  const open = names.filter((name) => isOpen(name) && isServedHere(name))
  const lists = useQueries({
    queries: open.map((name) => ({ ...collectionsQuery(name), refetchInterval: COUNTS_MS })),
  })
  const hide = (next: boolean) => {
    if (next) sharedStorage.set(HIDDEN, '1')
    else sharedStorage.remove(HIDDEN)
    setHidden(next)
    setKept(!next)
  }
  if (isHidden || (yields && isPanelOpen(search) && !isKept)) {
    return (
      <div className={classes.hidden}>
        <IconButton aria-label="Show the databases" onClick={() => hide(false)}>
          <IconChevronRight />
        </IconButton>
      </div>
    )
  }
  const counts = new Map(sizes.map(({ database, documents }) => [database, documents]))
  const rows = names.flatMap((name) => {
    const collections = lists[open.indexOf(name)]?.data ?? []
    const matches = filterByName([{ name }], text).length > 0
    const shown = matches ? collections : filterByName(collections, text)
    return matches || shown.length > 0 ? [{ name, collections: shown }] : []
  })
  return (
    <nav aria-label="Databases" className={classes.rail}>
      <div className={classes.head}>
        <FilterField
          label="Filter databases and collections"
          placeholder="Filter"
          clear="Clear filter"
          text={text}
          onChange={filter}
        />
        {mayCreate && (
          <IconButton
            aria-label="Create a database"
            data-tip="Create database"
            onClick={createDatabase}
          >
            <IconPlus />
          </IconButton>
        )}
        <IconButton aria-label="Hide the databases" data-tip="Hide" onClick={() => hide(true)}>
          <IconChevronLeft />
        </IconButton>
      </div>
      <ul>
        {rows.slice(0, MAX_LISTED).map(({ name, collections }) => (
          <li key={name}>
            <div className={classes.row}>
              <IconButton
                aria-label={`Collections of ${name}`}
                aria-expanded={isOpen(name)}
                onClick={() => setToggled((now) => new Map(now).set(name, !isOpen(name)))}
              >
                <IconChevronRight size={14} />
              </IconButton>
              <Link
                to="/data/$database"
                params={{ database: name }}
                search={({ q }) => ({ q })}
                activeOptions={{ exact: true, includeSearch: false }}
                className={`mono ${classes.link}`}
              >
                {name}
              </Link>
              <Count of={counts.get(name)} />
            </div>
            {collections.length > 0 && (
              <ul>
                {collections.slice(0, MAX_LISTED).map((each) => (
                  <li key={each.name} className={classes.row}>
                    <Link
                      to="/data/$database/$collection"
                      params={{ database: name, collection: each.name }}
                      search={({ q }) => ({ q })}
                      activeOptions={{ includeSearch: false }}
                      className={`mono ${classes.link} ${classes.collection}`}
                    >
                      {each.name}
                    </Link>
                    <Count of={each.documents} />
                  </li>
                ))}
                <More count={collections.length} />
              </ul>
            )}
          </li>
        ))}
        <More count={rows.length} />
      </ul>
      {rows.length === 0 && text !== '' && <p className={classes.more}>No match.</p>}
    </nav>
  )
}

const Count = ({ of }: { of: number | null | undefined }) =>
  of != null && <span className={classes.count}>{formatCount(of)}</span>

const More = ({ count }: { count: number }) =>
  count > MAX_LISTED && (
    <li className={classes.more}>and {formatCount(count - MAX_LISTED)} more. Filter by name.</li>
  )
