import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy } from 'react'
import { collectionsQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { IconPlugConnected, IconTrash } from '../../ui/icon/icons.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { MenuButton } from '../../ui/overlay/menu-button.tsx'
import { RecordTable } from '../../ui/table/record-table.tsx'
import { formatBytes, formatCount, NO_FIGURE } from '../../ui/text/format-number.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import { CollectionHead } from '../collection-head.tsx'
import { CreateDocumentButton, loadDialogs, NoDocuments } from '../create-document.tsx'
import page from '../data-page.module.css'
import { hasDialog } from '../data-search.ts'
import { ReadResult } from '../read-result.tsx'
import { useDataLocation } from '../use-data-location.ts'
import classes from './database-page.module.css'
import { type DatabaseRow, servingEndpoints } from './database-rows.ts'
import { useDatabaseRows } from './use-database-rows.ts'

const DocumentDialogs = lazy(async () => ({
  default: (await loadDialogs()).DocumentDialogs,
}))

/** Why `_system` cannot be dropped. */
export const SYSTEM_NOT_DROPPABLE = '_system contains the administration and cannot be dropped.'

/** Maximum endpoints to list; the rest are counted. */
const MAX_LISTED = 20

/** Returns the path that downloads a whole database. */
export const exportPath = (database: string): string =>
  `/_db/${encodeURIComponent(database)}/_export`

/** A database: its size, its collections, and the endpoints that reach it. */
export function DatabasePage() {
  const { database = '', search } = useDataLocation()
  const ownRole = useOwnRole()
  const mayChange = useHasRole('editor')
  const { rows, names } = useDatabaseRows()
  const row = rows.find(({ name }) => name === database)
  const query = useQuery({
    ...collectionsQuery(database),
    // A first count finishes soon, so poll every 2 s until then.
    refetchInterval: ({ state }) =>
      state.data?.some(({ measured }) => measured === null) === true ? 2_000 : 10_000,
  })
  // A dropped database has no collections to show, not even earlier ones.
  const isMissing = names.data !== undefined && row === undefined
  usePageTitle(database, 'Data')
  return (
    <>
      <CollectionHead
        database={database}
        collection={undefined}
        tab=""
        action={<Actions name={database} />}
      />
      {!mayChange && (
        <p className={page.role}>
          {ownRole}. Only editors, operators and admins can change documents.
        </p>
      )}
      {row !== undefined && <Size row={row} />}
      <div className={classes.parts}>
        <ReadResult
          query={isMissing ? { ...query, data: undefined } : query}
          what={`the collections of ${database}`}
          database={database}
        >
          {(collections) =>
            collections.length === 0 ? (
              <NoDocuments>
                {database} contains no documents. A collection is created with its first document
                and removed with its last.
              </NoDocuments>
            ) : (
              <Section title="Collections" count={collections.length}>
                <RecordTable
                  caption="Collections"
                  records={collections}
                  idOf={({ name }) => name}
                  columns={[
                    {
                      head: 'Name',
                      cell: ({ name }) => (
                        <Link
                          to="/data/$database/$collection"
                          params={{ database, collection: name }}
                          search={({ q }) => ({ q })}
                          className="mono"
                        >
                          {name}
                        </Link>
                      ),
                    },
                    {
                      head: 'Documents',
                      figures: true,
                      width: 112,
                      cell: ({ documents }) =>
                        documents === null ? NO_FIGURE : formatCount(documents),
                    },
                    {
                      head: 'Size',
                      figures: true,
                      width: 96,
                      cell: ({ bytes }) => (bytes === null ? NO_FIGURE : formatBytes(bytes)),
                    },
                  ]}
                />
              </Section>
            )
          }
        </ReadResult>
        {row !== undefined && <Endpoints row={row} />}
      </div>
      {hasDialog(search) && (
        <LazyBoundary>
          <DocumentDialogs database={database} collection={undefined} />
        </LazyBoundary>
      )}
    </>
  )
}

function Actions({ name }: { name: string }) {
  const { dropDatabase, importDatabase, load } = useDataLocation()
  const mayChange = useHasRole('editor')
  const mayAdminister = useHasRole('operator')
  const isSystem = name === '_system'
  return (
    <div className={classes.actions}>
      {mayAdminister && (
        <Button
          variant="default"
          leftSection={<IconPlugConnected />}
          renderRoot={(props) => <Link to="/endpoints/new" search={{ serve: name }} {...props} />}
        >
          Open an endpoint
        </Button>
      )}
      {mayChange && (
        <MenuButton label="Import">
          <Menu.Item onClick={load}>Documents</Menu.Item>
          {mayAdminister && <Menu.Item onClick={importDatabase}>Export of a database</Menu.Item>}
        </MenuButton>
      )}
      <Button variant="default" component="a" href={exportPath(name)} download>
        Export
      </Button>
      {mayAdminister && (
        <Button
          variant="subtle"
          data-danger
          leftSection={<IconTrash />}
          aria-disabled={isSystem || undefined}
          data-tip={isSystem ? SYSTEM_NOT_DROPPABLE : undefined}
          onClick={() => isSystem || dropDatabase()}
        >
          Drop database
        </Button>
      )}
      {mayChange && <CreateDocumentButton />}
    </div>
  )
}

function Size({ row: { documents, bytes, measured } }: { row: DatabaseRow }) {
  if (documents === null || bytes === null || measured === null) {
    return <p className="dim">Counting documents…</p>
  }
  return (
    <p className="dim">
      {formatCount(documents)} document{documents === 1 ? '' : 's'}, {formatBytes(bytes)}, counted{' '}
      <RelativeTime time={measured} tabIndex={0} />
    </p>
  )
}

function Endpoints({ row }: { row: DatabaseRow }) {
  const reach = servingEndpoints(row)
  return (
    <Section title="Endpoints that serve it" count={reach.length}>
      {reach.length === 0 ? (
        <p className="dim">
          No endpoint serves this database, so its documents cannot be accessed.
        </p>
      ) : (
        <ul className={classes.endpoints}>
          {reach.slice(0, MAX_LISTED).map(({ endpoint, isDefault }) => (
            <li key={endpoint}>
              <Link to="/endpoints" search={{ open: endpoint }} className="mono">
                {endpoint}
              </Link>
              {isDefault && <span className="dim">default</span>}
            </li>
          ))}
          {reach.length > MAX_LISTED && (
            <li className="dim">and {formatCount(reach.length - MAX_LISTED)} more</li>
          )}
        </ul>
      )}
    </Section>
  )
}
