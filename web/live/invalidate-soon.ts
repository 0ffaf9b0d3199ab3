import type { QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../../server/contract/event.ts'

/** Events that come within this many milliseconds cost one reading, not one each. */
const GATHER_MS = 100

/**
 * Turns live events into readings: the first part of every query key is the type of the event
 * after which it is read anew. `note` takes an event, `stop` forgets those not yet acted upon.
 */
export function invalidateSoon(queryClient: QueryClient) {
  const types = new Set<LiveEvent['type']>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const flush = () => {
    timer = undefined
    const all = types.has('reset')
    for (const type of types) {
      if (!all) void queryClient.invalidateQueries({ queryKey: [type] })
    }
    if (all) void queryClient.invalidateQueries()
    types.clear()
  }

  return {
    note: (event: LiveEvent) => {
      types.add(event.type)
      // The listeners carry the revision of their endpoint.
      if (event.type === 'endpoint') types.add('listener')
      timer ??= setTimeout(flush, GATHER_MS)
    },
    stop: () => clearTimeout(timer),
  }
}
