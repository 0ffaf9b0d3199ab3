import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../api.ts'
import { forgetDrafts } from '../use-kept-draft.ts'
import { SIGNED_OUT_URL } from './return-to.ts'

/** Ends the session on the server, then goes to the sign-in page. Nothing typed is kept. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => answer(api._api.session.$delete()),
    onSuccess: () => {
      forgetDrafts()
      location.assign(SIGNED_OUT_URL)
    },
  })
}
