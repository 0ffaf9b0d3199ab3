import { useQueryClient } from '@tanstack/react-query'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { undoBulk } from './bulk-requests.ts'

/** Starts the undo of a bulk change. */
export function useUndoBulk() {
  const queryClient = useQueryClient()
  return useSingleMutation({ mutationFn: (id: string) => undoBulk(queryClient, id) })
}
