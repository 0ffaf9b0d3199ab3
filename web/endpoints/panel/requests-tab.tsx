import { useQuery } from '@tanstack/react-query'
import { policiesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
import { RequestTest } from '../../policy/request-test.tsx'
import { LiveRequests } from '../../requests/live-requests.tsx'
import { useEndpointsLocation } from '../use-endpoints-location.ts'
import { PanelSection } from './panel-section.tsx'
import type { PanelEndpoint } from './use-panel-endpoint.ts'

/** The live requests of an endpoint, and a test of what its policy does with a request. */
export function RequestsTab({ endpoint: { address } }: { endpoint: PanelEndpoint }) {
  const mayTest = useHasRole('operator')
  const { changePolicy } = useEndpointsLocation()
  const { data: policies } = useQuery({ ...policiesQuery, enabled: mayTest })
  const policy = policies?.find(({ endpoint }) => endpoint === address)?.policy ?? null
  return (
    <>
      <PanelSection title="Live requests">
        <LiveRequests
          endpoint={address}
          onChangePolicy={(_, change) => changePolicy(address, 'access', change)}
        />
      </PanelSection>
      {policies !== undefined && (
        <PanelSection title="Test a request">
          <RequestTest address={address} policy={policy} />
        </PanelSection>
      )}
    </>
  )
}
