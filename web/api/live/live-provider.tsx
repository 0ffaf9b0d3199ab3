import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  type PropsWithChildren,
  useContext,
  useEffect,
  useEffectEvent,
  useState,
  useSyncExternalStore,
} from 'react'
import type { FollowedEvent } from '../../../server/contract/event.ts'
import { API_BASE } from '../client.ts'
import { lastEventId, sessionQuery } from '../queries.ts'
import { usePresence } from '../session/person.ts'
import { invalidateSoon } from './invalidate-soon.ts'
import type { Connection, LiveConnection } from './live-connection.ts'
import { openPageConnection } from './page-connection.ts'

const LiveContext = createContext<LiveConnection | undefined>(undefined)

/**
 * Opens the page's stream of live events while a person is signed in, and invalidates queries on
 * each event.
 */
export function LiveProvider({ children }: PropsWithChildren) {
  const queryClient = useQueryClient()
  const signedIn = usePresence().end === undefined
  const [live, setLive] = useState<LiveConnection>()
  useEffect(() => {
    if (!signedIn) return
    const invalidation = invalidateSoon(queryClient)
    const opened = openPageConnection(`${API_BASE}/_api/events`, {
      after: lastEventId(),
      onEvent: invalidation.note,
      mayConnect: isSignedIn(queryClient),
    })
    setLive(opened)
    return () => {
      opened.close()
      setLive(undefined)
      invalidation.stop()
    }
  }, [queryClient, signedIn])
  return <LiveContext value={live}>{children}</LiveContext>
}

/** Returns a check whether the person is still signed in, before a stream is reopened. */
const isSignedIn = (queryClient: QueryClient) => async (signal: AbortSignal) => {
  // The next check must not wait for the request of one that hangs.
  signal.onabort = () => queryClient.cancelQueries({ queryKey: sessionQuery.queryKey })
  try {
    const query = { ...sessionQuery, staleTime: 0, retry: false }
    return (await queryClient.fetchQuery(query)) !== null
  } finally {
    signal.onabort = null
  }
}

const connecting: Connection = { state: 'connecting' }
const never = () => () => {}

/** Returns the state of the stream of live events, and a function that retries immediately. */
export function useConnection(): Connection & { tryNow: () => void } {
  const live = useContext(LiveContext)
  const connection = useSyncExternalStore(
    live?.subscribe ?? never,
    live?.current ?? (() => connecting),
  )
  return { ...connection, tryNow: () => live?.tryNow() }
}

/**
 * Follows more than the changes of the administration while the component is shown. There is one
 * stream for everything that a page follows, so `onEvent` also gets the events of other components.
 *
 * @param query parameters of the stream, such as `feed=blog/articles`; undefined: nothing.
 */
export function useFollow(query: string | undefined, onEvent: (event: FollowedEvent) => void) {
  const live = useContext(LiveContext)
  const listener = useEffectEvent(onEvent)
  useEffect(() => (query === undefined ? undefined : live?.follow(query, listener)), [live, query])
}
