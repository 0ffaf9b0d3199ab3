import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMay } from '../person.ts'
import { announce } from '../ui/announce.tsx'
import { parseFilter, passes } from './endpoint-filter.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import classes from './endpoint-ways.module.css'
import { exportEndpoints } from './export-endpoints.ts'
import { sayCount } from './traffic.ts'

/** The ways to endpoints other than one by one: as a file, from a file. */
export function EndpointWays(props: {
  /** `undefined` while they are not known. */
  rows: readonly EndpointRow[] | undefined
  /** What is exported is what the filter lets through. */
  filter: string
}) {
  const { rows, filter } = props
  const mayChange = useMay('operator')
  const save = () => {
    if (rows === undefined) return
    const parsed = parseFilter(filter)
    const count = exportEndpoints(rows.filter((row) => passes(parsed, row)))
    announce(`${sayCount(count)} ${count === 1 ? 'endpoint was' : 'endpoints were'} exported.`)
  }
  const filtered = filter.trim() !== ''
  return (
    <div className={classes.ways}>
      {mayChange && (
        <Link to="/import" className={classes.way}>
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
