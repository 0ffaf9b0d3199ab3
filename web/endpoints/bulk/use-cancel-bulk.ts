import { useMutation, useQueryClient } from '@tanstack/react-query'
import { cancelBulk } from './bulk-requests.ts'

/** Cancels a bulk change. Changes already applied stay. */
export function useCancelBulk() {
  const queryClient = useQueryClient()
  return useMutation({ mutationFn: (id: string) => cancelBulk(queryClient, id) })
}
