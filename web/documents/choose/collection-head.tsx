import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { databasesQuery } from '../../app/queries.ts'
import { PageHead } from '../../shared/ui/layout/page-head.tsx'
import { CollectionPicker } from './collection-picker.tsx'
import { type CollectionTab, CollectionTabs } from './collection-tabs.tsx'

export interface CollectionHeadProps {
  readonly database: string
  /** Undefined if no collection is selected. */
  readonly collection: string | undefined
  /** The tab that stays open when another collection is selected. */
  readonly tab: CollectionTab
  readonly action?: ReactNode
}

/** The head of the pages of a collection, the same on each of its tabs. */
export function CollectionHead({ database, collection, tab, action }: CollectionHeadProps) {
  useRefetchWhenDropped(database)
  return (
    <>
      <PageHead title="Documents" action={action} />
      <CollectionPicker database={database} collection={collection} tab={tab} />
      {collection !== undefined && <CollectionTabs collectionRef={{ database, collection }} />}
    </>
  )
}

/**
 * Refetches what is shown of a database when it is dropped, so that the pages report it. Documents
 * have no live events, but databases do.
 */
function useRefetchWhenDropped(database: string): void {
  const queryClient = useQueryClient()
  const { data: exists } = useQuery({
    ...databasesQuery,
    select: (databases) => databases.some(({ name }) => name === database),
  })
  useEffect(() => {
    if (exists === false) void queryClient.invalidateQueries({ queryKey: ['document', database] })
  }, [queryClient, database, exists])
}
