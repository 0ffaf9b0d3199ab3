import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useAllDatabases } from '../../api/all-databases.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { useFilterText } from '../../ui/form/use-filter-text.ts'
import { PageHead } from '../../ui/layout/page-head.tsx'
import { usePhoneScreen } from '../../ui/layout/use-narrow-screen.ts'
import { usePageTitle } from '../../ui/layout/use-page-title.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { AddAction, EndpointLinks } from '../endpoint-links.tsx'
import { matchesFilter, parseFilter } from '../model/endpoint-filter.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { EndpointFilterField, NoEndpoint } from '../table/endpoint-filter-field.tsx'
import { useEndpointRows } from '../table/use-endpoint-rows.ts'
import { layOut, makeGraph } from './map-graph.ts'
import classes from './map-page.module.css'
import { MapPicture } from './map-picture.tsx'
import { MapTables } from './map-tables.tsx'

/** Maximum number of lines drawn; more cannot be followed by eye. */
const MAX_LINES = 200

/** The page that shows which endpoints serve which databases, as a picture and as tables. */
export function MapPage() {
  const { rows, failure, retry } = useEndpointRows()
  const { q: text = '' } = useSearch({ from: '/endpoints/map' })
  const navigate = useNavigate()
  usePageTitle('Map', 'Endpoints')
  return (
    <>
      <PageHead
        title="Endpoints"
        action={
          <>
            <EndpointLinks rows={rows} filter={text} view="map" />
            <AddAction
              onAdd={() => void navigate({ to: '/endpoints/new', search: text ? { q: text } : {} })}
            />
          </>
        }
      />
      {failure !== null && <LoadFailure what="The endpoints" error={failure} onRetry={retry} />}
      {failure === null && rows === undefined && <SkeletonRows what="the map" />}
      {rows !== undefined && <MapView rows={rows} />}
    </>
  )
}

function MapView({ rows }: { rows: readonly EndpointRow[] }) {
  const [text, filter] = useFilterText('/endpoints/map')
  const databases = useAllDatabases()
  const phone = usePhoneScreen()
  const [open, setOpen] = useState<string>()
  const graph = useMemo(() => {
    const parsed = parseFilter(text)
    const shown = text.trim() === '' ? undefined : (row: EndpointRow) => matchesFilter(parsed, row)
    return makeGraph(rows, databases, shown)
  }, [rows, databases, text])
  const tooMany = graph.lines.length > MAX_LINES
  const picture = useMemo(
    () => (tooMany || phone ? undefined : layOut(graph)),
    [graph, tooMany, phone],
  )
  const show = (id: string) => {
    setOpen(id)
    // Focus after the row is rendered.
    setTimeout(() => document.getElementById(`group-${id}`)?.focus())
  }
  return (
    <>
      <div className={classes.bar}>
        <EndpointFilterField text={text} onChange={filter} />
      </div>
      {graph.groups.length === 0 && (
        <NoEndpoint text={text} hidden={rows.length} onClear={() => filter('')} />
      )}
      {tooMany && !phone && (
        <p className={classes.many}>
          The map has {formatCount(graph.lines.length)} lines, too many to draw. Filter to{' '}
          {MAX_LINES} or fewer. The tables below are complete.
        </p>
      )}
      {picture !== undefined && graph.groups.length > 0 && (
        <MapPicture graph={picture} onShow={show} />
      )}
      <MapTables
        graph={graph}
        databases={databases}
        open={open}
        onToggle={(id) => setOpen(id === open ? undefined : id)}
      />
    </>
  )
}
