import { api, readJson } from '../../api/client.ts'
import { SIGNED_OUT_URL } from '../../api/session/return-to.ts'
import { clearDrafts } from '../forms/draft-storage.ts'
import { useSingleMutation } from '../forms/use-single-mutation.ts'

/** Ends the session on the server, deletes the person's drafts, and opens the sign-in page. */
export function useSignOut({ id }: { readonly id: string }) {
  return useSingleMutation({
    mutationFn: () => readJson(api._api.session.$delete()),
    onSuccess: () => {
      clearDrafts(id)
      location.assign(SIGNED_OUT_URL)
    },
  })
}
