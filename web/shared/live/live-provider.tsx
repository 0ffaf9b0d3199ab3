import { useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  type PropsWithChildren,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { API_BASE } from '../api.ts'
import { usePresence } from '../person.ts'
import { sessionQuery } from '../queries.ts'
import { invalidateSoon } from './invalidate-soon.ts'
import type { Connection, LiveConnection } from './live-connection.ts'
import { openPageConnection } from './page-connection.ts'

const LiveContext = createContext<LiveConnection | undefined>(undefined)

/**
 * Opens the console's one stream of live events while somebody is signed in, and lets what it tells
 * be read anew.
 */
export function LiveProvider({ children }: PropsWithChildren) {
  const queryClient = useQueryClient()
  const signedIn = usePresence().end === undefined
  const [live, setLive] = useState<LiveConnection>()
  useEffect(() => {
    if (!signedIn) return
    const invalidation = invalidateSoon(queryClient)
    const opened = openPageConnection({
      url: `${API_BASE}/_api/events`,
      onEvent: invalidation.note,
      look: async () =>
        (await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0, retry: false })) !== null,
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

const connecting: Connection = { state: 'connecting' }
const never = () => () => {}

/** How the stream of live events stands, and how to try it now. */
export function useConnection(): Connection & { tryNow: () => void } {
  const live = useContext(LiveContext)
  const connection = useSyncExternalStore(
    live?.subscribe ?? never,
    live?.current ?? (() => connecting),
  )
  return { ...connection, tryNow: () => live?.tryNow() }
}
