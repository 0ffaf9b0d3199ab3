import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { databasesQuery } from '../../queries.ts'
import { LoadFailure } from '../../ui/load-failure.tsx'
import { PageHead } from '../../ui/page-head.tsx'
import { SkeletonRows } from '../../ui/skeleton-rows.tsx'
import { useFilterText } from '../../ui/use-filter-text.ts'
import { usePageTitle } from '../../ui/use-page-title.ts'
import { AddAction } from '../add-action.tsx'
import { parseFilter, passes } from '../endpoint-filter.ts'
import { EndpointFilterField } from '../endpoint-filter-field.tsx'
import type { EndpointRow } from '../endpoint-rows.ts'
import { EndpointWays } from '../endpoint-ways.tsx'
import { NoMatch } from '../no-match.tsx'
import { sayCount } from '../traffic.ts'
import { useEndpointRows } from '../use-endpoint-rows.ts'
import { makeGraph } from './map-graph.ts'
import { orderGraph } from './map-layout.ts'
import classes from './map-page.module.css'
import { MapPicture } from './map-picture.tsx'
import { MapTables } from './map-tables.tsx'

/** More lines than these cannot be followed by eye. */
const MOST_LINES = 200

/** The page that shows which endpoints reach which databases: a picture, and the same as tables. */
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
            <EndpointWays rows={rows} filter={text} view="map" />
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
  const { data: databases } = useQuery(databasesQuery)
  const narrow = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
  const [open, setOpen] = useState<string>()
  const graph = useMemo(() => {
    const parsed = parseFilter(text)
    const shown = text.trim() === '' ? undefined : (row: EndpointRow) => passes(parsed, row)
    return makeGraph(rows, databases, shown)
  }, [rows, databases, text])
  const tooMany = graph.lines.length > MOST_LINES
  const picture = useMemo(
    () => (tooMany || narrow ? undefined : orderGraph(graph)),
    [graph, tooMany, narrow],
  )
  const show = (id: string) => {
    setOpen(id)
    // After the row has been drawn with its detail.
    setTimeout(() => document.getElementById(`group-${id}`)?.focus())
  }
  return (
    <>
      <div className={classes.bar}>
        <EndpointFilterField text={text} onChange={filter} />
      </div>
      {graph.groups.length === 0 && (
        <NoMatch text={text} hidden={rows.length} onClear={() => filter('')} />
      )}
      {tooMany && !narrow && (
        <p className={classes.many}>
          {sayCount(graph.lines.length)} lines are too many to follow. Filter down to {MOST_LINES}{' '}
          and they are drawn; the tables below have them all.
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
