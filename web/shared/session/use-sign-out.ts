import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../api.ts'
import { forgetDrafts } from '../use-kept-draft.ts'
import { SIGNED_OUT_URL } from './return-to.ts'

/**
 * Ends the session on the server, then goes to the sign-in page. Nothing that the person has typed is
 * kept.
 */
export function useSignOut({ id }: { readonly id: string }) {
  return useMutation({
    mutationFn: () => answer(api._api.session.$delete()),
    onSuccess: () => {
      forgetDrafts(id)
      location.assign(SIGNED_OUT_URL)
    },
  })
}
