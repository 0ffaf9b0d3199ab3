import type { ReactNode } from 'react'
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
  return (
    <>
      <PageHead title="Documents" action={action} />
      <CollectionPicker database={database} collection={collection} tab={tab} />
      {collection !== undefined && <CollectionTabs collectionRef={{ database, collection }} />}
    </>
  )
}
