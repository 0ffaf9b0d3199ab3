import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy } from 'react'
import { databasesQuery } from '../api/queries.ts'
import { useHasRole } from '../api/session/person.ts'
import { useKeys } from '../shared/keys/use-keys.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { AddButton } from '../ui/form/add-button.tsx'
import { useFilterText } from '../ui/form/use-filter-text.ts'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { CollectionHead } from './choose/collection-head.tsx'
import { CollectionList } from './choose/collection-list.tsx'
import { NameList } from './choose/name-list.tsx'
import classes from './documents-page.module.css'
import { hasDialog } from './documents-search.ts'
import { DocumentsView } from './documents-view.tsx'
import { useDocumentsLocation } from './use-documents-location.ts'

const loadDialogs = () => import('./dialogs/document-dialogs.tsx')
const DocumentDialogs = lazy(async () => ({ default: (await loadDialogs()).DocumentDialogs }))

/** The Documents page: selects a database and a collection, and lists its documents. */
export function DocumentsPage() {
  const { database, collection, search, create, load } = useDocumentsLocation()
  const ownRole = useOwnRole()
  const mayChange = useHasRole('editor')
  usePageTitle(collection ?? false, database ?? false, 'Documents')
  return (
    <>
      {database === undefined ? (
        <PageHead title="Documents" />
      ) : (
        <CollectionHead
          database={database}
          collection={collection}
          tab=""
          action={
            mayChange && (
              <>
                {/* With a collection, the button is beside its filters. */}
                {collection === undefined && (
                  <Button variant="default" className={classes.import} onClick={load}>
                    Import
                  </Button>
                )}
                <CreateButton onClick={create} />
              </>
            )
          }
        />
      )}
      {!mayChange && (
        <p className={classes.role}>
          {ownRole}. Only editors, operators and admins can change documents.
        </p>
      )}
      {database === undefined ? (
        <DatabaseList />
      ) : (
        <>
          {collection === undefined ? (
            <CollectionList database={database} />
          ) : (
            <DocumentsView
              key={`${database}/${collection}`}
              collectionRef={{ database, collection }}
            />
          )}
          {hasDialog(search) && (
            <LazyBoundary>
              <DocumentDialogs database={database} collection={collection} />
            </LazyBoundary>
          )}
        </>
      )}
    </>
  )
}

/** Button that creates a document, as N does while no field has the focus. */
function CreateButton({ onClick }: { onClick: () => void }) {
  useKeys('documents', { add: onClick })
  return (
    <AddButton onClick={onClick} onPointerEnter={preload} onFocus={preload}>
      Create document
    </AddButton>
  )
}

/**
 * Preloads the dialogs on hover or focus. Errors are ignored here; they surface when a dialog
 * opens.
 */
function preload(): void {
  loadDialogs().catch(() => {})
}

/** Lists the databases, each with a link to its collections. */
function DatabaseList() {
  const [text, filter] = useFilterText('/documents')
  return (
    <QueryResult query={useQuery(databasesQuery)} what="the databases">
      {(databases) => (
        <NameList
          title="Choose a database"
          kind="database"
          rows={databases.map((name) => ({ name }))}
          text={text}
          onChange={filter}
          link={({ name }, className) => (
            <Link to="/documents/$database" params={{ database: name }} className={className}>
              {name}
            </Link>
          )}
        />
      )}
    </QueryResult>
  )
}
