import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { lazy, useMemo, useState } from 'react'
import { useAllDatabases } from '../../api/all-databases.ts'
import { databasesQuery, endpointsQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { CreateMissing } from '../../shared/create-missing.tsx'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { LazyBoundary } from '../../ui/feedback/lazy-boundary.tsx'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { Notice } from '../../ui/feedback/notice.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { filterByName, NameFilter, NoNameMatch } from '../../ui/form/name-filter.tsx'
import { useFilterText } from '../../ui/form/use-filter-text.ts'
import { PageHead } from '../../ui/layout/page-head.tsx'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { NotPrinted } from '../../ui/table/printed-rows.tsx'
import {
  type DatabaseRow,
  missingDatabases,
  type ServingEndpoint,
  toDatabaseRows,
} from './database-rows.ts'
import { BY_NAME, type DatabaseSort, sortRows } from './database-sort.ts'
import { DatabaseTable } from './database-table.tsx'
import classes from './databases-page.module.css'
import { sizesQuery } from './queries.ts'
import { useDatabasesLocation } from './use-databases-location.ts'

const loadPanel = () => import('./database-panel.tsx')
const DatabasePanel = lazy(async () => ({ default: (await loadPanel()).DatabasePanel }))
const DropDatabaseDialog = lazy(async () => ({
  default: (await import('./drop-database-dialog.tsx')).DropDatabaseDialog,
}))

/** The Databases page: all databases with their sizes and endpoints. */
export function DatabasesPage() {
  const { search, create, openImport, close } = useDatabasesLocation()
  const [text, filter] = useFilterText('/databases')
  const ownRole = useOwnRole()
  const mayChange = useHasRole('operator')
  const { data: names, error, refetch } = useQuery(databasesQuery)
  const all = useAllDatabases()
  const sizes = useQuery(sizesQuery)
  const endpoints = useQuery(endpointsQuery)
  const rows = useMemo(
    () => toDatabaseRows(names ?? [], sizes.data, endpoints.data),
    [names, sizes.data, endpoints.data],
  )
  const missing = useMemo(
    () => (all === undefined ? [] : missingDatabases(all, endpoints.data)),
    [all, endpoints.data],
  )
  const ordered = useStableOrder(rows, search.sort ?? BY_NAME)
  const shown = filterByName(ordered, text)
  const nameFilter = { kind: 'database', total: rows.length, text, onChange: filter } as const
  usePageTitle(search.open ?? false, 'Databases')
  const rowOfName = (name: string | undefined) => rows.find((row) => row.name === name)
  return (
    <>
      <PageHead
        title="Databases"
        action={
          mayChange && (
            <>
              <Button variant="default" onClick={openImport}>
                Import
              </Button>
              <AddButton onClick={create}>Create database</AddButton>
            </>
          )
        }
      />
      {!mayChange && (
        <p className={classes.note}>
          {ownRole}. Only operators and admins can create, import and drop databases.
        </p>
      )}
      {names === undefined && error === null && <SkeletonRows what="the databases" />}
      {names === undefined && error !== null && (
        <LoadFailure what="The databases" error={error} onRetry={refetch} />
      )}
      {names !== undefined && (
        <>
          <NameFilter {...nameFilter} />
          {sizes.error !== null && (
            <p role="status" className={classes.note}>
              The sizes of the databases could not be {sizes.data ? 'updated' : 'loaded'}.{' '}
              {sizes.error.message}{' '}
              <button type="button" className="link-button" onClick={() => sizes.refetch()}>
                Try again
              </button>
            </p>
          )}
          <MissingDatabases missing={missing} />
          {shown.length > 0 && (
            <DatabaseTable rows={shown} unreached={endpoints.data === undefined} />
          )}
          <NotPrinted
            count={shown.length}
            what="databases"
            advice="Filter the table to see others."
          />
          {shown.length === 0 && <NoNameMatch {...nameFilter} />}
          {all?.length === 1 && text === '' && <OnlySystem mayChange={mayChange} />}
        </>
      )}
      {names !== undefined && search.open !== undefined && (
        <LazyBoundary>
          <DatabasePanel
            key={search.open}
            name={search.open}
            row={rowOfName(search.open)}
            onClose={close}
          />
        </LazyBoundary>
      )}
      {names !== undefined && search.drop !== undefined && (
        <LazyBoundary>
          <DropDatabaseDialog
            key={search.drop}
            name={search.drop}
            row={rowOfName(search.drop)}
            reachKnown={endpoints.data !== undefined}
          />
        </LazyBoundary>
      )}
      <Outlet />
    </>
  )
}

function MissingDatabases({ missing }: { missing: [string, ServingEndpoint[]][] }) {
  if (missing.length === 0) return null
  return (
    <ul className={`warning ${classes.missing}`} aria-label="Missing databases">
      {missing.map(([name, [first, ...others]]) => (
        <li key={name}>
          <span className="mono">{name}</span> does not exist, but is in the mapping of{' '}
          <span className="mono">{first?.endpoint}</span>
          {others.length > 0 && ` and ${others.length} more`}. <CreateMissing name={name} />
        </li>
      ))}
    </ul>
  )
}

function OnlySystem({ mayChange }: { mayChange: boolean }) {
  return (
    <Notice>
      So far there is only _system, which contains the administration.
      {mayChange && ' Create a database for your data or import one, then map an endpoint to it.'}
    </Notice>
  )
}

/**
 * Returns the rows in a stable order. Rows are sorted again only when the sort order changes, when
 * databases are created or dropped, or when a size becomes known.
 */
function useStableOrder(rows: readonly DatabaseRow[], sort: DatabaseSort): readonly DatabaseRow[] {
  const reason = useMemo(
    () => JSON.stringify([sort, rows.map(({ name, bytes }) => [name, bytes !== null])]),
    [rows, sort],
  )
  const [order, setOrder] = useState<{ reason: string; names: readonly string[] }>()
  let names = order?.names ?? []
  if (order?.reason !== reason) {
    names = sortRows(rows, sort).map(({ name }) => name)
    setOrder({ reason, names })
  }
  const found = new Map(rows.map((row) => [row.name, row]))
  return names.flatMap((name) => found.get(name) ?? [])
}
