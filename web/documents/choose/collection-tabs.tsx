import { Link } from '@tanstack/react-router'
import { keepFocus } from '../../ui/layout/keep-focus.ts'
import { Tabs, tabClass } from '../../ui/layout/tabs.tsx'
import type { CollectionRef } from '../use-documents-location.ts'

/** A page of a collection, by the end of its path. */
export type CollectionTab = '' | '/indexes' | '/schema'

/**
 * Links between the documents, the indexes and the schema of a collection. Each page has its own,
 * so the focus moves to `main`.
 */
export function CollectionTabs({ collectionRef }: { collectionRef: CollectionRef }) {
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
    </Tabs>
  )
}
