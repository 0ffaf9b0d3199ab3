import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { collectionsQuery, databasesQuery } from '../../api/queries.ts'
import { PageHead } from '../../ui/layout/page-head.tsx'
import { hasStatus } from '../mutations/conflict-error.ts'
import { CollectionPicker } from './collection-picker.tsx'
import { type CollectionTab, CollectionTabs } from './collection-tabs.tsx'

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
