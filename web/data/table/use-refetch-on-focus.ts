import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { pagesKey } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'

/**
 * Refetches the page that is shown when the window gets the focus. TanStack Query does so only for
 * a tab that was hidden, not for a window beside another one.
 */
export function useRefetchOnFocus({ database, collection }: CollectionRef): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    const refetch = () =>
      void queryClient.refetchQueries(
        { queryKey: pagesKey({ database, collection }), type: 'active' },
        { cancelRefetch: false },
      )
    window.addEventListener('focus', refetch)
    return () => window.removeEventListener('focus', refetch)
  }, [queryClient, database, collection])
}
