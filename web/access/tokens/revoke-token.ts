import { useQueryClient } from '@tanstack/react-query'
import type { TokenInfo } from '../../../server/contract/access/token.ts'
import { api, ignoreMissing, readJson } from '../../api/client.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'

const revokeToken = ({ id }: TokenInfo) =>
  ignoreMissing(readJson(api._api.token[':id'].$delete({ param: { id } })))

/** Revokes a token. */
export function useRevokeToken() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: revokeToken,
    // Several tokens can have the same name.
    change: ({ name, prefix }) => ({ what: `Token ${name} (${prefix}…)`, done: 'revoked' }),
    onSuccess: (_, { name }) => {
      showToast({ text: `Token ${name} revoked`, name })
      return queryClient.invalidateQueries({ queryKey: ['token'] })
    },
  })
}
