import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { policiesQuery } from '../../api/queries.ts'
import { PolicySummary } from '../../policy/policy-summary.tsx'
import { QueryResult } from '../../ui/feedback/query-result.tsx'
import { preloadForms } from '../load-forms.ts'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { PanelSection } from './panel-section.tsx'

/** The policy of an endpoint, for operators. */
export function EndpointPolicy(props: { address: string; mapping: readonly string[] }) {
  const { address, mapping } = props
  const { changePolicy, switch: turn } = useEndpointsLocation()
  const query = useQuery(policiesQuery)
  const record = query.data?.find(({ endpoint }) => endpoint === address)
  const intent = { onPointerEnter: preloadForms, onFocus: preloadForms }
  return (
    <PanelSection
      title="Policy"
      action={
        query.data !== undefined && (
          <span>
            <Button variant="subtle" onClick={() => turn(address)} {...intent}>
              {record?.policy.enabled === false ? 'Turn on' : 'Turn off'}
            </Button>
            <Button variant="subtle" onClick={() => changePolicy(address)} {...intent}>
              Edit policy
            </Button>
          </span>
        )
      }
    >
      <QueryResult query={query} what="the policy">
        {() => <PolicySummary record={record} mapping={mapping} />}
      </QueryResult>
    </PanelSection>
  )
}
