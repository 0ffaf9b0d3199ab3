import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../person.ts'
import { announce } from '../ui/announce.tsx'
import { filterRows } from './endpoint-filter.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import classes from './endpoint-ways.module.css'
import { sayCount } from './traffic.ts'

const views = [
  { to: '/endpoints', key: 'table', label: 'Table' },
  { to: '/endpoints/map', key: 'map', label: 'Map' },
] as const

/** The two views of the endpoints, and the ways to take them to a file and from one. */
export function EndpointWays(props: {
  /** `undefined` while they are not known. */
  rows: readonly EndpointRow[] | undefined
  /** What is exported is what the filter lets through. */
  filter: string
  view: 'table' | 'map'
}) {
  const { rows, filter, view } = props
  const mayChange = useMay('operator')
  const save = async () => {
    if (rows === undefined) return
    const { exportEndpoints } = await import('./export-endpoints.ts')
    const count = exportEndpoints(filterRows(rows, filter))
    announce(`${sayCount(count)} ${count === 1 ? 'endpoint was' : 'endpoints were'} exported.`)
  }
  const filtered = filter.trim() !== ''
  return (
    <div className={classes.ways}>
      <nav aria-label="View" className={classes.views}>
        {views.map(({ to, key, label }) => (
          <Link
            key={key}
            to={to}
            search={filtered ? { q: filter } : {}}
            className={classes.view}
            // The map is below the table's path, and the search says nothing of the view.
            activeOptions={{ exact: true, includeSearch: false }}
            aria-current={key === view ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {mayChange && (
        <Link to="/endpoints/import" className={classes.way}>
          Import
        </Link>
      )}
      <Button
        variant="subtle"
        className={classes.way}
        aria-disabled={rows === undefined || undefined}
        data-tip={filtered ? 'Saves those that pass the filter' : undefined}
        onClick={save}
      >
        {filtered ? 'Export filtered' : 'Export'}
      </Button>
    </div>
  )
}
