import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAllDatabases } from '../../api/all-databases.ts'
import { databasesQuery } from '../../api/queries.ts'
import { useHasRole, useOwnEndpoint } from '../../api/session/person.ts'
import { CreateMissing } from '../../shared/create-missing.tsx'
import { IconCopyPlus, IconTrash } from '../../ui/icon/icons.tsx'
import { exactTime } from '../../ui/text/relative-time.tsx'
import { preloadForms } from '../load-forms.ts'
import { formatMapping, missingDatabases } from '../model/mapping.ts'
import { YouAreHere } from '../table/cells/you-are-here.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { EndpointLog } from './endpoint-log.tsx'
import { EndpointPolicy } from './endpoint-policy.tsx'
import { NodeStates } from './node-states.tsx'
import classes from './panel-body.module.css'
import { PanelSection } from './panel-section.tsx'
import { RequestsSection } from './requests-section.tsx'
import { TrafficSection } from './traffic/traffic-section.tsx'
import { TryIt } from './try-it.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** The content of the panel, for an existing endpoint or one removed while the panel is open. */
export function PanelBody(props: { endpoint: PanelEndpoint; onClose: () => void }) {
  const { address, mapping, listeners, figures, goneAt } = props.endpoint
  const { edit, remove, duplicate } = useEndpointsLocation()
  const mayChange = useHasRole('operator')
  const { data: databases } = useQuery(databasesQuery)
  const all = useAllDatabases()
  const gone = goneAt !== undefined
  const here = useOwnEndpoint() === address && !gone
  return (
    <>
      {gone && (
        <div role="alert" className={classes.gone}>
          <p>This endpoint was removed. The data shown is from {exactTime(goneAt)}.</p>
          <div className={classes.actions}>
            <Button variant="default" onClick={props.onClose}>
              Back to the list
            </Button>
          </div>
        </div>
      )}
      {here && (
        <p className={classes.here}>
          <YouAreHere />
        </p>
      )}
      <NodeStates address={address} listeners={listeners} gone={gone} />
      <TrafficSection address={address} listeners={figures} over={gone && listeners.length === 0} />
      {mapping !== null && (
        <PanelSection
          title="Databases"
          action={
            mayChange &&
            !gone && (
              <Button
                variant="subtle"
                onClick={() => edit(address)}
                onPointerEnter={preloadForms}
                onFocus={preloadForms}
              >
                Edit mapping
              </Button>
            )
          }
        >
          <MappingLines mapping={mapping} existing={all} />
        </PanelSection>
      )}
      {mayChange && !gone && mapping !== null && (
        <EndpointPolicy address={address} mapping={mapping} />
      )}
      {!gone && mapping !== null && <RequestsSection address={address} />}
      {!gone && mapping !== null && (
        <TryIt address={address} mapping={mapping} listeners={listeners} existing={databases} />
      )}
      <EndpointLog address={address} />
      {mayChange && !gone && (
        <div className={classes.actions}>
          <Button
            variant="default"
            leftSection={<IconCopyPlus />}
            onClick={() => duplicate(address)}
          >
            Duplicate
          </Button>
          <Button
            variant="default"
            leftSection={<IconTrash />}
            onClick={() => remove(address)}
            onPointerEnter={preloadForms}
            onFocus={preloadForms}
          >
            Remove endpoint
          </Button>
        </div>
      )}
    </>
  )
}

/** Lists all databases of an endpoint in order, and describes the mapping in a sentence. */
function MappingLines(props: {
  mapping: readonly string[]
  existing: readonly string[] | undefined
}) {
  const { mapping, existing } = props
  const missing = missingDatabases(mapping, existing)
  return (
    <>
      {mapping.length > 0 && (
        <ol className={classes.names} aria-label="Databases in order">
          {mapping.map((name, at) => (
            <li
              key={name}
              className={classes.name}
              data-missing={missing.includes(name) || undefined}
            >
              <span className="mono">{name}</span>
              {at === 0 && <span className="dim">default</span>}
              {missing.includes(name) && (
                <>
                  <span>does not exist</span>
                  <CreateMissing name={name} />
                </>
              )}
            </li>
          ))}
        </ol>
      )}
      <p className={classes.sentence}>{formatMapping(mapping, existing)}</p>
    </>
  )
}
