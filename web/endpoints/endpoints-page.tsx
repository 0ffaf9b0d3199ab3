import { Outlet } from '@tanstack/react-router'
import { LoadFailure } from '../ui/load-failure.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { PartBoundary } from '../ui/part-boundary.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { AddAction } from './add-action.tsx'
import { countRows } from './endpoint-rows.ts'
import { EndpointWays } from './endpoint-ways.tsx'
import classes from './endpoints-view.module.css'
import { EndpointsView } from './endpoints-view.tsx'
import { PanelPlace, RowDialogs } from './row-dialogs.tsx'
import { useEndpointRows } from './use-endpoint-rows.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'

/** The Endpoints page: what is configured, what runs for it, and the ways to change it. */
export function EndpointsPage() {
  const { rows, figures, readAt, failure, stateFailure, retry, readFigures } = useEndpointRows()
  const { add, search } = useEndpointsLocation()
  const failed = rows === undefined ? 0 : countRows(rows).failed
  usePageTitle(failed > 0 && `${failed} failed`, 'Endpoints')
  return (
    <div className={classes.page}>
      <PageHead
        title="Endpoints"
        action={
          <>
            <EndpointWays rows={rows} filter={search.q ?? ''} view="table" />
            <AddAction onAdd={add} />
          </>
        }
      />
      <PartBoundary>
        <Outlet />
        <PanelPlace />
        {rows !== undefined && <RowDialogs rows={rows} />}
      </PartBoundary>
      {stateFailure !== null && failure === null && (
        <LoadFailure what="What runs for the endpoints" error={stateFailure} onRetry={retry} />
      )}
      {failure !== null && <LoadFailure what="The endpoints" error={failure} onRetry={retry} />}
      {failure === null && rows === undefined && <SkeletonRows what="the endpoints" />}
      {rows !== undefined && (
        <EndpointsView rows={rows} figures={figures} readAt={readAt} readFigures={readFigures} />
      )}
    </div>
  )
}
