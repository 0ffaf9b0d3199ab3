import { queryOptions } from '@tanstack/react-query'
import { answer, api, whileSignedIn } from '../api.ts'

/** Where there are several nodes, it is looked this often whether one fell silent, ms. */
const LOOK_MS = 10_000

/** The nodes that share the store. They come and go with their listeners, and are read anew then. */
export const nodesQuery = queryOptions({
  queryKey: ['listener', 'nodes'],
  queryFn: ({ signal }) => answer(api._api.node.$get({}, { init: { signal } })),
  refetchInterval: (query) =>
    (query.state.data?.length ?? 0) > 1 ? whileSignedIn(LOOK_MS)(query) : false,
})
