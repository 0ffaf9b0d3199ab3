import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useAllDatabases } from '../../api/all-databases.ts'
import { useHasRole } from '../../api/session/person.ts'
import { CreateMissing } from '../../shared/create-missing.tsx'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { AddButton } from '../../ui/form/add-button.tsx'
import { filterByName, NameFilter, NoNameMatch } from '../../ui/form/name-filter.tsx'
import { useFilterText } from '../../ui/form/use-filter-text.ts'
import { PageHead } from '../../ui/layout/page-head.tsx'
import { useNarrowScreen } from '../../ui/layout/use-narrow-screen.ts'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { NotPrinted } from '../../ui/table/printed-rows.tsx'
import classes from '../data-page.module.css'
import { useDataLocation } from '../use-data-location.ts'
import { type DatabaseRow, missingDatabases, type ServingEndpoint } from './database-rows.ts'
import { type DatabaseSort, sortRows, toSort } from './database-sort.ts'
import { DatabaseTable } from './database-table.tsx'
import { useDatabaseRows } from './use-database-rows.ts'

/** All databases with their sizes and endpoints. */
export function DatabaseList() {
  const { search, createDatabase, importDatabase } = useDataLocation()
  const [text, filter] = useFilterText('/data')
  const ownRole = useOwnRole()
  const narrow = useNarrowScreen()
  const mayChange = useHasRole('operator')
  const all = useAllDatabases()
  const { rows, names, sizes, endpoints } = useDatabaseRows()
  const missing = useMemo(
    () => (all === undefined ? [] : missingDatabases(all, endpoints.data)),
    [all, endpoints.data],
  )
  const shown = filterByName(useStableOrder(rows, toSort(search.sort)), text)
  const nameFilter = { kind: 'database', total: rows.length, text, onChange: filter } as const
  usePageTitle('Data')
  return (
    <>
      <PageHead
        title="Data"
        action={
          mayChange && (
            <>
              <Button variant="default" onClick={importDatabase}>
                Import
              </Button>
              <AddButton onClick={createDatabase}>Create database</AddButton>
            </>
          )
        }
      />
      {!mayChange && (
        <p className={classes.role}>
          {ownRole}. Only operators and admins can create, import and drop databases.
        </p>
      )}
      <QueryResult query={names} what="the databases">
        {() => (
          <>
            {narrow && <NameFilter {...nameFilter} />}
            {sizes.error !== null && (
              <p role="status" className={classes.role}>
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
      </QueryResult>
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
