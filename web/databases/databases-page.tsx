import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { useMay } from '../person.ts'
import { databasesQuery, endpointsQuery } from '../queries.ts'
import { LoadFailure } from '../ui/load-failure.tsx'
import { Notice } from '../ui/notice.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { PartBoundary } from '../ui/part-boundary.tsx'
import { sayCount } from '../ui/say-bytes.ts'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { useFilterText } from '../ui/use-filter-text.ts'
import { usePageTitle } from '../ui/use-page-title.ts'
import { filterRows, toDatabaseRows } from './database-rows.ts'
import { BY_NAME } from './database-sort.ts'
import { DatabaseTable } from './database-table.tsx'
import classes from './databases-page.module.css'
import { NameFilter } from './name-filter.tsx'
import { sizesQuery } from './queries.ts'
import { useDatabasesLocation } from './use-databases-location.ts'
import { useSteadyOrder } from './use-steady-order.ts'

const loadPanel = () => import('./database-panel.tsx')
const DatabasePanel = lazy(async () => ({ default: (await loadPanel()).DatabasePanel }))
const DropDatabaseDialog = lazy(async () => ({
  default: (await import('./drop-database-dialog.tsx')).DropDatabaseDialog,
}))

/** From so many databases on, there is a field to filter them by name. */
const MANY = 8

/** The Databases page: what there is, what it holds and who reaches it. */
export function DatabasesPage() {
  const { search, create, close } = useDatabasesLocation()
  const [text, filter] = useFilterText('/databases')
  const mayChange = useMay('operator')
  const { data: names, error, refetch } = useQuery(databasesQuery)
  const sizes = useQuery(sizesQuery)
  const endpoints = useQuery(endpointsQuery)
  const rows = useMemo(
    () => toDatabaseRows(names ?? [], sizes.data, endpoints.data),
    [names, sizes.data, endpoints.data],
  )
  const ordered = useSteadyOrder(rows, search.sort ?? BY_NAME)
  const shown = filterRows(ordered, text)
  usePageTitle(search.open ?? false, 'Databases')
  const asked = (name: string | undefined) => rows.find((row) => row.name === name)
  return (
    <>
      <PageHead
        title="Databases"
        action={
          mayChange && (
            <Button
              variant="filled"
              leftSection={<IconPlus size={16} stroke={1.75} aria-hidden="true" />}
              onClick={create}
            >
              Create database
            </Button>
          )
        }
      />
      {!mayChange && (
        <p className={classes.note}>
          You are a viewer: databases are created and dropped by operators.
        </p>
      )}
      {names === undefined && error === null && <SkeletonRows what="the databases" />}
      {names === undefined && error !== null && (
        <LoadFailure what="The databases" error={error} onRetry={refetch} />
      )}
      {names !== undefined && (
        <>
          {(names.length >= MANY || text !== '') && (
            <NameFilter total={names.length} text={text} onChange={filter} />
          )}
          {sizes.error !== null && (
            <p role="status" className={classes.note}>
              What the databases hold could not be read{sizes.data && ' anew'}.{' '}
              {sizes.error.message}{' '}
              <button type="button" className={classes.again} onClick={() => sizes.refetch()}>
                Try again
              </button>
            </p>
          )}
          {shown.length > 0 && (
            <DatabaseTable rows={shown} unreached={endpoints.data === undefined} />
          )}
          {shown.length === 0 && (
            <NoMatch text={text} hidden={rows.length} onClear={() => filter('')} />
          )}
          {rows.length === 1 && text === '' && <OnlySystem mayChange={mayChange} />}
        </>
      )}
      {names !== undefined && search.open !== undefined && (
        <PartBoundary>
          <Suspense>
            <DatabasePanel
              key={search.open}
              name={search.open}
              row={asked(search.open)}
              onClose={close}
            />
          </Suspense>
        </PartBoundary>
      )}
      {names !== undefined && search.drop !== undefined && (
        <PartBoundary>
          <Suspense>
            <DropDatabaseDialog
              key={search.drop}
              name={search.drop}
              row={asked(search.drop)}
              reachKnown={endpoints.data !== undefined}
            />
          </Suspense>
        </PartBoundary>
      )}
      <Outlet />
    </>
  )
}

function NoMatch(props: { text: string; hidden: number; onClear: () => void }) {
  const { text, hidden, onClear } = props
  return (
    <Notice
      action={
        <Button variant="default" onClick={onClear}>
          Clear filter
        </Button>
      }
    >
      No database matches “{text}”. {hidden === 1 ? '1 is' : `${sayCount(hidden)} are`} hidden.
    </Notice>
  )
}

function OnlySystem({ mayChange }: { mayChange: boolean }) {
  return (
    <Notice>
      Only _system so far, which holds the administration.
      {mayChange && ' Create a database for your data, then map an endpoint to it.'}
    </Notice>
  )
}
