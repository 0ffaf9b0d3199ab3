import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { useHasRole } from '../../api/session/person.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { CollectionHead } from '../collection-head.tsx'
import { indexesQuery } from '../queries.ts'
import { ReadResult } from '../read-result.tsx'
import { IndexTable } from './index-table.tsx'
import { useIndexesLocation } from './use-indexes-location.ts'

const IndexDialogs = lazy(async () => ({
  default: (await import('./index-dialogs.tsx')).IndexDialogs,
}))

/** The Indexes page of a collection. */
export function IndexesPage() {
  const { collectionRef, search, create, remove } = useIndexesLocation()
  const { database, collection } = collectionRef
  const ownRole = useOwnRole()
  const mayChange = useHasRole('editor')
  const query = useQuery(indexesQuery(collectionRef))
  usePageTitle('Indexes', collection, database, 'Data')
  const isOpen = search.create !== undefined || search.remove !== undefined
  return (
    <>
      <CollectionHead
        database={database}
        collection={collection}
        tab="/indexes"
        action={mayChange && <AddButton onClick={create}>Create index</AddButton>}
      />
      {!mayChange && (
        <p className="dim">{ownRole}. Only editors, operators and admins can change indexes.</p>
      )}
      <ReadResult query={query} what="the indexes" database={database}>
        {(indexes) => (
          <>
            {indexes.length === 0 ? (
              <Notice>
                No indexes yet. Without an index, queries that filter or sort read the whole
                collection.
              </Notice>
            ) : (
              <IndexTable indexes={indexes} collectionRef={collectionRef} onDelete={remove} />
            )}
            {isOpen && (
              <LazyBoundary>
                <IndexDialogs indexes={indexes} />
              </LazyBoundary>
            )}
          </>
        )}
      </ReadResult>
    </>
  )
}
