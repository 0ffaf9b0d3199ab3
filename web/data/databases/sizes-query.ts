import { queryOptions } from '@tanstack/react-query'
import { api, pollWhileSignedIn, readJson } from '../../api/client.ts'

/** Poll interval for sizes in milliseconds. Changes of size emit no event. */
const SIZES_MS = 10_000

/** Sizes of all databases. Creating or dropping a database also invalidates the query. */
export const sizesQuery = queryOptions({
  queryKey: ['database', 'sizes'],
  queryFn: ({ signal }) => readJson(api._api.size.$get({}, { init: { signal } })),
  staleTime: 0,
  refetchInterval: (query) =>
    // A first count finishes soon, so poll every second.
    query.state.data?.some(({ measured }) => measured === null) === true
      ? 1_000
      : pollWhileSignedIn(SIZES_MS)(query),
})
