import type { EventHub } from './hub.ts'

/** Maximum age of a shared result, ms: credentials expire without an event. */
const MAX_AGE = 1_000

/** Looks up a key, or shares the result of a lookup that began after the last wake. */
export type SharedLookup<T> = (key: string, lookUp: () => Promise<T>) => Promise<T>

/**
 * Returns a {@link SharedLookup}. An event wakes all streams at once; streams with the same
 * credentials share one authentication.
 *
 * @param now the time, ms.
 */
export function createSharedLookup<T>(
  hub: Pick<EventHub, 'wakes'>,
  now: () => number,
): SharedLookup<T> {
  let results = new Map<string, Promise<T>>()
  let wakes = -1
  let since = 0
  return (key, lookUp) => {
    if (wakes !== hub.wakes || now() - since >= MAX_AGE) {
      results = new Map()
      wakes = hub.wakes
      since = now()
    }
    const shared = results.get(key)
    if (shared !== undefined) return shared
    const result = lookUp()
    results.set(key, result)
    return result
  }
}
