import { NativeSelect } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { collectionsQuery, databasesQuery } from '../../api/queries.ts'
import filterBar from '../../ui/form/filter-bar.module.css'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { PageHead } from '../../ui/layout/page-head.tsx'
import { Tabs, tabClass } from '../../ui/layout/tabs.tsx'
import { hasStatus } from '../document-client.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import classes from './collection-head.module.css'

export interface CollectionHeadProps {
  readonly database: string
  /** Undefined if no collection is selected. */
  readonly collection: string | undefined
  /** The tab that stays open when another collection is selected. */
  readonly tab: CollectionTab
  /** Hidden while the database does not exist. */
  readonly action?: ReactNode
}

/** The head of the pages of a collection, the same on each of its tabs. */
export function CollectionHead({ database, collection, tab, action }: CollectionHeadProps) {
  const isMissing = useIsDatabaseMissing(database)
  return (
    <>
      <PageHead title="Documents" action={!isMissing && action} />
      <CollectionPicker database={database} collection={collection} tab={tab} />
      {collection !== undefined && <CollectionTabs collectionRef={{ database, collection }} />}
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

interface CollectionPickerProps {
  readonly database: string
  /** Undefined if no collection is selected. */
  readonly collection: string | undefined
  /** The tab that stays open when another collection is selected. */
  readonly tab: CollectionTab
}

/** Selects the database and the collection. */
function CollectionPicker({ database, collection, tab }: CollectionPickerProps) {
  const { goTo } = useDocumentsLocation()
  const navigate = useNavigate()
  const { data: databases = [] } = useQuery(databasesQuery)
  const { data: collections = [] } = useQuery(collectionsQuery(database))
  return (
    <div className={filterBar.bar}>
      <NativeSelect
        label="Database"
        classNames={{ root: classes.choice, input: 'mono' }}
        data={withOwn(databases, database)}
        value={database}
        onChange={(event) => goTo({ database: event.currentTarget.value })}
      />
      <NativeSelect
        label="Collection"
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
          void navigate({ to: `/documents/$database/$collection${tab}`, params })
        }}
      />
    </div>
  )
}

/** Adds the name from the URL, which may not exist. */
const withOwn = (names: readonly string[], own: string | undefined): string[] =>
  own === undefined || names.includes(own) ? [...names] : [own, ...names]

/** A page of a collection, by the end of its path. */
type CollectionTab = '' | '/indexes' | '/schema' | '/follow'

/**
 * Links between the documents, the indexes, the schema and the feed of a collection. Each page has
 * its own, so the focus moves to `main`.
 */
function CollectionTabs({ collectionRef }: { collectionRef: CollectionRef }) {
  const params = { database: collectionRef.database, collection: collectionRef.collection }
  const exact = { exact: true, includeSearch: false }
  return (
    <Tabs label={`Collection ${collectionRef.collection}`}>
      <Link
        ref={keepFocus}
        to="/documents/$database/$collection"
        params={params}
        activeOptions={exact}
        className={tabClass}
      >
        Documents
      </Link>
      <Link
        ref={keepFocus}
        to="/documents/$database/$collection/indexes"
        params={params}
        className={tabClass}
      >
        Indexes
      </Link>
      <Link
        ref={keepFocus}
        to="/documents/$database/$collection/schema"
        params={params}
        className={tabClass}
      >
        Schema
      </Link>
      <Link
        ref={keepFocus}
        to="/documents/$database/$collection/follow"
        params={params}
        className={tabClass}
      >
        Follow
      </Link>
    </Tabs>
  )
}
