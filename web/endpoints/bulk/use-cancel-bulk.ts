import { useQueryClient } from '@tanstack/react-query'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { cancelBulk } from './bulk-requests.ts'

/** Cancels a bulk change. Changes already applied stay. */
export function useCancelBulk() {
  const queryClient = useQueryClient()
  return useSingleMutation({ mutationFn: (id: string) => cancelBulk(queryClient, id) })
}
