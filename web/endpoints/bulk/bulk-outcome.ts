import type { QueryClient } from '@tanstack/react-query'
import type { EndpointChangeView } from '../../../server/contract/endpoints/endpoint-change.ts'
import type { EndpointChange } from '../guard/check-changes.ts'
import { readFailures, watchBulk } from './bulk-requests.ts'

/** How a bulk change ended. */
export interface BulkOutcome {
  /** Undefined if the server does not list the bulk change or is unreachable. */
  readonly view: EndpointChangeView | undefined
  /** Reasons of the failures by address; undefined if they could not be read. */
  readonly failures: ReadonlyMap<string, string> | undefined
}

/** Resolves with the outcome of a bulk change once it has ended; see {@link watchBulk}. */
export async function watchOutcome(
  queryClient: QueryClient,
  id: string,
  options: { readonly orUnreachable: boolean },
): Promise<BulkOutcome> {
  const view = await watchBulk(queryClient, id, options)
  if (view === undefined || view.failed === 0) return { view, failures: new Map() }
  const failures = await readFailures(id).catch(() => undefined)
  const reasons = failures?.map(({ endpoint, errorMessage }) => [endpoint, errorMessage] as const)
  return { view, failures: reasons && new Map(reasons) }
}

/**
 * Returns whether a bulk change made `own`, the change that disconnects this page, as far as is
 * known. An unreachable server counts as disconnected.
 */
export function wasOwnChangeMade(
  { view, failures }: BulkOutcome,
  { address, after }: Pick<EndpointChange, 'address' | 'after'>,
): boolean {
  if (view === undefined) return true
  // The server starts this change last, and skips only removals.
  const wasStarted = view.left === 0 || (view.state === 'done' && after !== null)
  return wasStarted && failures?.has(address) !== true
}
