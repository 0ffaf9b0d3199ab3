import { queryOptions } from '@tanstack/react-query'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'

/** Poll interval, ms. Live events tell only of the deliveries of the node that serves this page. */
const POLL_MS = 5_000

/** The webhooks of the databases that the person may change. Changes refetch them at once. */
export const webhooksQuery = queryOptions({
  queryKey: ['webhook'],
  queryFn: ({ signal }) => readJson(api._api.webhook.$get({}, { init: { signal } })),
  refetchInterval: pollWhileSignedIn(POLL_MS),
})

/** The last deliveries of a webhook, the newest first. */
export const deliveriesQuery = (name: string) =>
  queryOptions({
    queryKey: ['webhook', name, 'delivery'],
    queryFn: ({ signal }) =>
      readJson(api._api.webhook[':name'].delivery.$get({ param: { name } }, { init: { signal } })),
    refetchInterval: pollWhileSignedIn(POLL_MS),
    staleTime: 0,
  })
