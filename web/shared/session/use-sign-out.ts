import { useMutation } from '@tanstack/react-query'
import { answer, api } from '../../app/api.ts'
import { forgetDrafts } from '../forms/draft-storage.ts'
import { SIGNED_OUT_URL } from './return-to.ts'

/** Ends the session on the server, deletes the person's drafts, and opens the sign-in page. */
export function useSignOut({ id }: { readonly id: string }) {
  return useMutation({
    mutationFn: () => answer(api._api.session.$delete()),
    onSuccess: () => {
      forgetDrafts(id)
      location.assign(SIGNED_OUT_URL)
    },
  })
}
