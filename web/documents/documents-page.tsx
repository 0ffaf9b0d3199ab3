import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { lazy, Suspense } from 'react'
import { useMay } from '../person.ts'
import { PageHead } from '../ui/page-head.tsx'
import { PartBoundary } from '../ui/part-boundary.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { CollectionList } from './collection-list.tsx'
import { CollectionWays } from './collection-ways.tsx'
import { DatabaseList } from './database-list.tsx'
import classes from './documents-page.module.css'
import { DocumentsView } from './documents-view.tsx'
import { FilterForm } from './filter-form.tsx'
import { PlaceBar } from './place-bar.tsx'
import { useDocumentsLocation } from './use-documents-location.ts'

const loadDialogs = () => import('./document-dialogs.tsx')
const DocumentDialogs = lazy(async () => ({ default: (await loadDialogs()).DocumentDialogs }))

/** The Documents page: a database, one of its collections, and the documents in it. */
export function DocumentsPage() {
  const { database, collection, search, create, filter } = useDocumentsLocation()
  const mayChange = useMay('operator')
  usePageTitle(collection ?? false, database ?? false, 'Documents')
  const { open, edit, remove, create: creating, upload, empty, job } = search
  const asked = [open, edit, remove, creating, upload, empty, job].some(
    (each) => each !== undefined,
  )
  return (
    <>
      <PageHead
        title="Documents"
        action={
          mayChange &&
          database !== undefined && (
            <Button
              variant="filled"
              leftSection={<IconPlus size={16} stroke={1.75} aria-hidden="true" />}
              onClick={create}
              onPointerEnter={preload}
              onFocus={preload}
            >
              Create document
            </Button>
          )
        }
      />
      {!mayChange && (
        <p className={classes.role}>
          You are a viewer: documents can be read here, and changed by operators.
        </p>
      )}
      {database === undefined ? (
        <DatabaseList />
      ) : (
        <>
          <PlaceBar database={database} collection={collection}>
            {collection !== undefined && (
              <FilterForm key={collection} text={search.filter ?? ''} onChange={filter} />
            )}
          </PlaceBar>
          {collection !== undefined && <CollectionWays place={{ database, collection }} />}
          {collection === undefined ? (
            <CollectionList database={database} />
          ) : (
            <DocumentsView key={`${database}/${collection}`} place={{ database, collection }} />
          )}
          {asked && (
            <PartBoundary>
              <Suspense>
                <DocumentDialogs database={database} collection={collection} />
              </Suspense>
            </PartBoundary>
          )}
        </>
      )}
    </>
  )
}

/** Loads the dialogs once somebody is about to open one. Faults wait for the use. */
function preload(): void {
  loadDialogs().catch(() => {})
}
