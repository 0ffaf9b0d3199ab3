import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, api, NoAnswer } from '../api.ts'
import { sameMapping } from './mapping.ts'
import { endpointsQuery, listenersQuery } from './queries.ts'

/** An endpoint to be added, or to be mapped anew. */
export interface SavedEndpoint {
  readonly address: string
  readonly databases: readonly string[]
  /** Of the endpoint whose mapping was edited: the server refuses if it has moved on (412). */
  readonly revision?: number | undefined
}

/** Saves an endpoint, and has the list read anew before it is done. */
export function useSaveEndpoint() {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: async ({ address, databases, revision }: SavedEndpoint) => {
      const body = { endpoint: address, databases: [...databases] }
      const headers: Record<string, string> =
        revision === undefined ? {} : { 'If-Match': `"${revision}"` }
      try {
        await answer(api._api.endpoint.$post({ json: body }, { headers }))
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        await lookFor(body)
      }
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: endpointsQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: listenersQuery.queryKey }),
      ])
    },
  })
}

/** No answer came, but the change may have been made: look, instead of guessing. */
async function lookFor(wanted: { endpoint: string; databases: string[] }): Promise<void> {
  const list = await answer(
    api._api.endpoint.$get({ query: { endpoint: [wanted.endpoint] } }),
  ).catch(() => {
    throw new Error(
      'Gatehouse does not answer. We do not know whether it was saved. Save again when it is back.',
    )
  })
  const found = list.find(({ endpoint }) => endpoint === wanted.endpoint)
  if (found === undefined || !sameMapping(found.databases, wanted.databases)) {
    throw new Error('The connection broke, and it was not saved. Save again.')
  }
}
