import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { LiveRequests } from '../requests/live-requests.tsx'
import { LoadFailure } from '../ui/feedback/load-failure.tsx'
import { useFilterText } from '../ui/form/use-filter-text.ts'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { AddAction, EndpointLinks } from './endpoint-links.tsx'
import { filterRows } from './model/endpoint-filter.ts'
import { EndpointFilterField } from './table/endpoint-filter-field.tsx'
import { useEndpointRows } from './table/use-endpoint-rows.ts'

/** The page that shows the rejected requests of all endpoints. */
export function RequestsPage() {
  const { rows, failure, retry } = useEndpointRows()
  const [text, filter] = useFilterText('/endpoints/requests')
  const navigate = useNavigate()
  usePageTitle('Requests', 'Endpoints')
  const shown = useMemo(
    () =>
      text.trim() === '' || rows === undefined
        ? undefined
        : new Set(filterRows(rows, text).map(({ address }) => address)),
    [rows, text],
  )
  return (
    <>
      <PageHead
        title="Endpoints"
        action={
          <>
            <EndpointLinks rows={rows} filter={text} view="requests" />
            <AddAction
              onAdd={() => void navigate({ to: '/endpoints/new', search: text ? { q: text } : {} })}
            />
          </>
        }
      />
      {failure !== null && <LoadFailure what="The endpoints" error={failure} onRetry={retry} />}
      <LiveRequests
        isShown={(endpoint) => shown?.has(endpoint) ?? true}
        onClear={() => filter('')}
        onChangePolicy={(endpoint, change) =>
          void navigate({
            to: '/endpoints',
            search: {
              open: endpoint,
              tab: 'requests',
              policy: endpoint,
              section: 'access',
              ...change,
            },
          })
        }
      >
        <EndpointFilterField text={text} onChange={filter} />
      </LiveRequests>
    </>
  )
}
