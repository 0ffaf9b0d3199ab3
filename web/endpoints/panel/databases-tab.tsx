import { Button } from '@mantine/core'
import { useAllDatabases } from '../../api/all-databases.ts'
import { useHasRole } from '../../api/session/person.ts'
import { CreateMissing } from '../../shared/create-missing.tsx'
import { preloadForms } from '../load-forms.ts'
import { formatMapping, missingDatabases } from '../model/mapping.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import classes from './databases-tab.module.css'
import { PanelSection } from './panel-section.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** The mapping of an endpoint: all databases in order, and a sentence that describes it. */
export function DatabasesTab({ endpoint }: { endpoint: PanelEndpoint }) {
  const { address, goneAt } = endpoint
  const mapping = endpoint.mapping ?? []
  const { edit } = useEndpointsLocation()
  const mayChange = useHasRole('operator')
  const existing = useAllDatabases()
  const missing = missingDatabases(mapping, existing)
  return (
    <PanelSection
      title="Mapping"
      action={
        mayChange &&
        goneAt === undefined && (
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
    </PanelSection>
  )
}
