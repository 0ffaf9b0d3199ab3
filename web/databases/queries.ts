import { queryOptions } from '@tanstack/react-query'
import { answer, api, whileSignedIn } from '../api.ts'

/** Sizes are read this often, in milliseconds, while the page is in sight: no event tells of them. */
const SIZES_MS = 10_000

/** How much every database holds. Read anew also when a database was created or dropped. */
export const sizesQuery = queryOptions({
  queryKey: ['database', 'sizes'],
  queryFn: ({ signal }) => answer(api._api.size.$get({}, { init: { signal } })),
  staleTime: 0,
  refetchInterval: (query) =>
    // What is being counted for the first time is soon there.
    query.state.data?.some(({ measured }) => measured === null) === true
      ? 1_000
      : whileSignedIn(SIZES_MS)(query),
})
