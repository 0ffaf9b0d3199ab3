import { useMutation, useQueryClient } from '@tanstack/react-query'
import { undoBulk } from './bulk-requests.ts'

/** Starts the undo of a bulk change. */
export function useUndoBulk() {
  const queryClient = useQueryClient()
  return useMutation({ mutationFn: (id: string) => undoBulk(queryClient, id) })
}
