import type { QueryClient } from '@tanstack/react-query'
import { endpointsQuery, listenersQuery } from './queries.ts'

/**
 * Reads anew what is configured and what runs at these addresses, and nothing of the thousands of
 * others. Never rejects: the live events bring what could not be read now.
 */
export async function readAgain(
  queryClient: QueryClient,
  addresses: readonly string[],
): Promise<void> {
  await Promise.all(
    [endpointsQuery, listenersQuery].map(({ meta }) =>
      meta?.readAgain?.(queryClient, addresses).catch(() => {}),
    ),
  )
}
