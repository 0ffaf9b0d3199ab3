import { useMutation } from '@tanstack/react-query'
import { api, readJson } from '../../app/api.ts'
import { clearDrafts } from '../forms/draft-storage.ts'
import { SIGNED_OUT_URL } from './return-to.ts'

/** Ends the session on the server, deletes the person's drafts, and opens the sign-in page. */
export function useSignOut({ id }: { readonly id: string }) {
  return useMutation({
    mutationFn: () => readJson(api._api.session.$delete()),
    onSuccess: () => {
      clearDrafts(id)
      location.assign(SIGNED_OUT_URL)
    },
  })
}
