import { lazy } from 'react'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { CollectionHead } from './collection-head.tsx'
import { loadDialogs } from './create-document.tsx'
import classes from './data-page.module.css'
import { hasDialog } from './data-search.ts'
import { DocumentsView } from './documents-view.tsx'
import { useDataLocation } from './use-data-location.ts'

const DocumentDialogs = lazy(async () => ({ default: (await loadDialogs()).DocumentDialogs }))

/** The documents of a collection. */
export function CollectionPage() {
  const { database = '', collection = '', search } = useDataLocation()
  const ownRole = useOwnRole()
  const mayChange = useHasRole('editor')
  usePageTitle(collection, database, 'Data')
  return (
    <>
      <CollectionHead database={database} collection={collection} tab="" />
      {!mayChange && (
        <p className={classes.role}>
          {ownRole}. Only editors, operators and admins can change documents.
        </p>
      )}
      <DocumentsView key={`${database}/${collection}`} collectionRef={{ database, collection }} />
      {hasDialog(search) && (
        <LazyBoundary>
          <DocumentDialogs database={database} collection={collection} />
        </LazyBoundary>
      )}
    </>
  )
}
