import { useDebouncedValue } from '@mantine/hooks'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type AddressPart, parseAddress } from '../../../server/contract/endpoints/address.ts'
import { api, readJson } from '../../api/client.ts'
import { nodesQuery } from '../../api/queries.ts'
import { canonicalAddress, draftAddress, type EndpointDraft } from './endpoint-draft.ts'

/** Debounce of the address check, ms. */
const PAUSE_MS = 400

/** The reason why an endpoint cannot be opened at an address now. */
export interface AddressProblem {
  readonly field: AddressPart
  readonly message: string
  /** The endpoint that uses the address or its port. */
  readonly endpoint: string | null
}

const checkQuery = (endpoint: string | undefined) =>
  queryOptions({
    queryKey: ['endpoint-check', endpoint],
    queryFn: ({ signal }) =>
      readJson(
        api._api['endpoint-check'].$post(
          { json: { endpoint: endpoint ?? '' } },
          { init: { signal } },
        ),
      ),
    enabled: endpoint !== undefined,
    // A port may become taken at any time, so each check is sent to the server.
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })

/**
 * Returns the problem that the node serving this page found with the address in a form. Returns
 * undefined while the address is incomplete or being checked, and if the check fails.
 *
 * @param taken the addresses of the configured endpoints.
 */
export function useAddressCheck(
  draft: EndpointDraft,
  taken: readonly string[],
): AddressProblem | undefined {
  const parsed = parseAddress(draftAddress(draft))
  const address = parsed.ok ? canonicalAddress(draft) : undefined
  const isTaken = address !== undefined && taken.includes(address)
  const [settled] = useDebouncedValue(address, PAUSE_MS)
  const { data: check } = useQuery(checkQuery(isTaken || settled !== address ? undefined : settled))
  const { data: nodes = [] } = useQuery(nodesQuery)
  if (isTaken) {
    const field = draft.scheme === 'unix' ? 'path' : 'port'
    return { field, message: `The endpoint ${address} already exists.`, endpoint: address }
  }
  if (check === undefined || check.field === null || check.message === null) return undefined
  const { field, message, endpoint } = check
  // Other nodes may be able to open the address.
  return {
    field,
    message: nodes.length > 1 ? `On node ${check.node}: ${message}` : message,
    endpoint,
  }
}
