import type { QueryClient } from '@tanstack/react-query'
import { endpointsQuery, listenersQuery } from './queries.ts'

/**
 * Refetches the endpoints and listeners of the given addresses only. Never rejects: live events
 * refetch what could not be read.
 */
export async function refetchEndpoints(
  queryClient: QueryClient,
  addresses: readonly string[],
): Promise<void> {
  await Promise.all(
    [endpointsQuery, listenersQuery].map(({ meta }) =>
      meta?.refetchEndpoints?.(queryClient, addresses).catch(() => {}),
    ),
  )
}
