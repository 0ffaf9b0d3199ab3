import { Outlet } from '@tanstack/react-router'
import { useConnection } from '../api/live/live-provider.tsx'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { LoadFailure } from '../ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton-rows.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { AddAction, EndpointLinks } from './endpoint-links.tsx'
import classes from './endpoints-view.module.css'
import { EndpointsView } from './endpoints-view.tsx'
import { countRows } from './model/endpoint-rows.ts'
import { EndpointPanelOutlet, RowDialogs } from './row-dialogs.tsx'
import { useEndpointRows } from './table/use-endpoint-rows.ts'
import { useEndpointsLocation } from './use-endpoints-location.ts'

/** The Endpoints page: the configured endpoints, their listeners, and the actions on them. */
export function EndpointsPage() {
  const { rows, figures, readAt, failure, stateFailure, retry, readFigures } = useEndpointRows()
  const { add, search } = useEndpointsLocation()
  const failed = rows === undefined ? 0 : countRows(rows).failed
  const isPaused = useConnection().state === 'paused'
  usePageTitle(failed > 0 && !isPaused && `${failed} failed`, 'Endpoints')
  return (
    <div className={classes.page}>
      <PageHead
        title="Endpoints"
        action={
          <>
            <EndpointLinks rows={rows} filter={search.q ?? ''} view="table" />
            <AddAction onAdd={add} />
          </>
        }
      />
      <LazyBoundary>
        <Outlet />
        <EndpointPanelOutlet />
        {rows !== undefined && <RowDialogs rows={rows} />}
      </LazyBoundary>
      {stateFailure !== null && failure === null && (
        <LoadFailure what="The state of the endpoints" error={stateFailure} onRetry={retry} />
      )}
      {failure !== null && <LoadFailure what="The endpoints" error={failure} onRetry={retry} />}
      {failure === null && rows === undefined && <SkeletonRows what="the endpoints" />}
      {rows !== undefined && (
        <EndpointsView rows={rows} figures={figures} readAt={readAt} readFigures={readFigures} />
      )}
    </div>
  )
}
