import { NativeSelect } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { collectionsQuery, databasesQuery } from '../api/queries.ts'
import filterBar from '../ui/form/filter-bar.module.css'
import { keepFocus } from '../ui/layout/keep-focus.ts'
import { Tabs, tabClass } from '../ui/layout/tabs.tsx'
import { useNarrowScreen } from '../ui/layout/use-narrow-screen.ts'
import classes from './collection-head.module.css'
import { hasStatus } from './document-client.ts'
import { useDataLocation } from './use-data-location.ts'

export interface CollectionHeadProps {
  readonly database: string
  /** Undefined on the page of the database. */
  readonly collection: string | undefined
  /** The tab that stays open when another collection is selected. */
  readonly tab: CollectionTab
  /** Hidden while the database does not exist. */
  readonly action?: ReactNode
}

/** A page of a collection, by the end of its path. */
type CollectionTab = '' | '/indexes' | '/schema' | '/follow'

const tabs: readonly [CollectionTab, string][] = [
  ['', 'Documents'],
  ['/indexes', 'Indexes'],
  ['/schema', 'Schema'],
  ['/follow', 'Follow'],
]

/** The head of the pages of a database and of a collection, with the tabs of the collection. */
export function CollectionHead({ database, collection, tab, action }: CollectionHeadProps) {
  const narrow = useNarrowScreen()
  const isMissing = useIsDatabaseMissing(database)
  return (
    <>
      {narrow && <CollectionPicker database={database} collection={collection} tab={tab} />}
      <div className={classes.head}>
        <div className={narrow && collection !== undefined ? 'visually-hidden' : classes.title}>
          {collection !== undefined && !narrow && (
            <>
              <Link
                to="/data/$database"
                params={{ database }}
                search={({ q }) => ({ q })}
                activeOptions={{ exact: true }}
                className="mono"
              >
                {database}
              </Link>
              <span className="dim">/</span>
            </>
          )}
          <h1 className="mono">{collection ?? database}</h1>
        </div>
        {collection !== undefined && (
          <Tabs label={`Collection ${collection}`}>
            {tabs.map(([path, label]) => (
              <Link
                key={path}
                ref={keepFocus}
                to={`/data/$database/$collection${path}`}
                params={{ database, collection }}
                search={({ q }) => ({ q })}
                activeOptions={{ exact: true, includeSearch: false }}
                className={tabClass}
              >
                {label}
              </Link>
            ))}
          </Tabs>
        )}
        {!isMissing && action}
      </div>
    </>
  )
}

/**
 * Returns whether a database does not exist, or cannot be reached here. Refetches what is shown of it
 * when it is dropped, so that the pages report it. Documents have no live events, but databases do.
 */
function useIsDatabaseMissing(database: string): boolean {
  const queryClient = useQueryClient()
  const { error } = useQuery(collectionsQuery(database))
  const { data: exists } = useQuery({
    ...databasesQuery,
    select: (databases) => databases.some(({ name }) => name === database),
  })
  useEffect(() => {
    if (exists === false) void queryClient.invalidateQueries({ queryKey: ['document', database] })
  }, [queryClient, database, exists])
  return exists === false || hasStatus(error, 404)
}

/** Selects the database and the collection, where the screen has no room for the rail. */
function CollectionPicker({ database, collection, tab }: CollectionHeadProps) {
  const { goTo } = useDataLocation()
  const navigate = useNavigate()
  const { data: databases = [] } = useQuery(databasesQuery)
  const { data: collections = [] } = useQuery(collectionsQuery(database))
  return (
    <div className={filterBar.bar}>
      <NativeSelect
        aria-label="Database"
        classNames={{ root: classes.choice, input: 'mono' }}
        data={[{ value: '', label: 'All databases' }, ...withOwn(databases, database)]}
        value={database}
        onChange={({ currentTarget: { value } }) => goTo(value === '' ? {} : { database: value })}
      />
      <NativeSelect
        aria-label="Collection"
        classNames={{
          root: classes.choice,
          ...(collection !== undefined && { input: 'mono' }),
        }}
        data={[
          { value: '', label: 'All collections' },
          ...withOwn(
            collections.map(({ name }) => name),
            collection,
          ),
        ]}
        value={collection ?? ''}
        onChange={(event) => {
          const chosen = event.currentTarget.value
          if (chosen === '') return goTo({ database })
          const params = { database, collection: chosen }
          void navigate({ to: `/data/$database/$collection${tab}`, params })
        }}
      />
    </div>
  )
}

/** Adds the name from the URL, which may not exist. */
const withOwn = (names: readonly string[], own: string | undefined): string[] =>
  own === undefined || names.includes(own) ? [...names] : [own, ...names]
