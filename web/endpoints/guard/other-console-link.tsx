import { useQuery } from '@tanstack/react-query'
import { endpointsQuery, policiesQuery } from '../../api/queries.ts'
import { useOwnEndpoint } from '../../api/session/person.ts'
import { findOtherConsole, permitsConsole, servesConsole } from '../model/admin-access.ts'
import { listenersQuery } from '../queries.ts'

/**
 * Links to the console at another endpoint, according to the endpoints that were read last. Show it
 * while the endpoint of this page does not respond, because it may have been removed.
 */
export function OtherConsoleLink() {
  const here = useOwnEndpoint()
  const { data: endpoints = [] } = useQuery({ ...endpointsQuery, enabled: false })
  const { data: listeners = [] } = useQuery({ ...listenersQuery, enabled: false })
  const { data: policies = [] } = useQuery({ ...policiesQuery, enabled: false })
  const ruled = new Map(policies.map(({ endpoint, policy }) => [endpoint, policy]))
  const byEndpoint = Map.groupBy(listeners, ({ endpoint }) => endpoint)
  const others = endpoints.flatMap(({ endpoint: address, databases }) =>
    address !== here && servesConsole(databases) && permitsConsole(ruled.get(address))
      ? { address, listeners: byEndpoint.get(address) ?? [] }
      : [],
  )
  const other = findOtherConsole(others, location)
  return other && <a href={other.url}>Open the console at {other.address}</a>
}
