import { useQuery } from '@tanstack/react-query'
import { useOwnEndpoint } from '../../shared/session/person.ts'
import { servesConsole } from '../model/admin-access.ts'
import { endpointsQuery } from '../queries.ts'
import { findOtherConsole } from './check-changes.ts'

/**
 * Links to the console at another endpoint, according to the endpoints that were read last. Show it
 * while the endpoint of this page does not respond, because it may have been removed.
 */
export function OtherConsoleLink() {
  const here = useOwnEndpoint()
  const { data: endpoints = [] } = useQuery({ ...endpointsQuery, enabled: false })
  const addresses = endpoints.flatMap(({ endpoint, databases }) =>
    endpoint !== here && servesConsole(databases) ? endpoint : [],
  )
  const other = findOtherConsole(addresses, location)
  return other && <a href={other.url}>Open the console at {other.address}</a>
}
