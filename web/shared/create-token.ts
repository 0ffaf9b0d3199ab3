import { useQueryClient } from '@tanstack/react-query'
import type { TokenInput } from '../../server/contract/access/token.ts'
import { api, readJson } from '../api/client.ts'
import { useSingleMutation } from './forms/use-single-mutation.ts'
import { showToast } from './toast/toast.ts'

const createToken = (input: TokenInput) => readJson(api._api.token.$post({ json: input }))

/** Creates a token. Its response is the only one with the secret. */
export function useCreateToken({ onCreated }: { onCreated?: () => void } = {}) {
  const queryClient = useQueryClient()
  return useSingleMutation({
    mutationFn: createToken,
    // The mutation cache would otherwise keep the secret for minutes.
    gcTime: 0,
    onSuccess: ({ info }) => {
      showToast({ text: `Token ${info.name} created`, name: info.name })
      onCreated?.()
      // Not awaited, to show the token immediately.
      void queryClient.invalidateQueries({ queryKey: ['token'] })
    },
  })
}
