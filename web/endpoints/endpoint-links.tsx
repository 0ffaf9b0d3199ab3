import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { useDialogNavigation } from '../shared/use-dialog-navigation.ts'
import { announce } from '../ui/announce.tsx'
import { AddButton } from '../ui/form/add-button.tsx'
import { formatCount } from '../ui/text/format-number.ts'
import classes from './endpoint-links.module.css'
import { preloadForms } from './load-forms.ts'
import { filterRows } from './model/endpoint-filter.ts'
import type { EndpointRow } from './model/endpoint-rows.ts'
import { type EndpointsSearch, readEndpointsSearch } from './use-endpoints-location.ts'

const views = [
  { to: '/endpoints', key: 'table', label: 'Table' },
  { to: '/endpoints/map', key: 'map', label: 'Map' },
  { to: '/endpoints/requests', key: 'requests', label: 'Requests' },
] as const

/** Switches between the views of the endpoints, and offers import and export. */
export function EndpointLinks(props: {
  /** `undefined` while loading. */
  rows: readonly EndpointRow[] | undefined
  /** The export contains the rows that match the filter. */
  filter: string
  view: (typeof views)[number]['key']
}) {
  const { rows, filter, view } = props
  const mayChange = useHasRole('operator')
  const { link } = useDialogNavigation()
  const save = async () => {
    if (rows === undefined) return
    const { exportEndpoints } = await import('./export-endpoints.ts')
    const count = exportEndpoints(filterRows(rows, filter))
    announce(`${formatCount(count)} ${count === 1 ? 'endpoint was' : 'endpoints were'} exported.`)
  }
  const filtered = filter.trim() !== ''
  return (
    <div className={classes.links}>
      <nav aria-label="View" className={classes.views}>
        {views.map(({ to, key, label }) => (
          <Link
            key={key}
            to={to}
            search={filtered ? { q: filter } : {}}
            className={classes.view}
            // The paths of the others are below that of the table, and the views share search
            // parameters.
            activeOptions={{ exact: true, includeSearch: false }}
            aria-current={key === view ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </nav>
      {mayChange && (
        <Link
          to="/endpoints/import"
          search={({ sort }: EndpointsSearch) => readEndpointsSearch({ q: filter.trim(), sort })}
          className={classes.action}
          {...link}
        >
          Import
        </Link>
      )}
      <Button
        variant="subtle"
        className={classes.action}
        aria-disabled={rows === undefined || undefined}
        data-tip={filtered ? 'Exports the endpoints that match the filter' : undefined}
        onClick={save}
      >
        {filtered ? 'Export filtered' : 'Export'}
      </Button>
    </div>
  )
}

/** The Add endpoint button of the views. Viewers see why it is missing. */
export function AddAction({ onAdd }: { onAdd: () => void }) {
  const ownRole = useOwnRole()
  if (!useHasRole('operator')) {
    return <p className="meta dim">{ownRole}. Only operators and admins can change endpoints.</p>
  }
  return (
    <AddButton onClick={onAdd} onPointerEnter={preloadForms} onFocus={preloadForms}>
      Add endpoint
    </AddButton>
  )
}
