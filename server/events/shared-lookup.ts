import type { EventHub } from './hub.ts'

/** Maximum age of a shared result, ms: credentials expire without an event. */
const MAX_AGE = 1_000

/** Looks up a key, or shares the result of a lookup that began after the last wake. */
export type OncePerWake<T> = (key: string, lookUp: () => Promise<T>) => Promise<T>

/**
 * Returns a {@link OncePerWake}. An event wakes all streams at once; streams with the same
 * credentials share one authentication.
 *
 * @param now the time, ms.
 */
export function createOncePerWake<T>(
  hub: Pick<EventHub, 'wakes'>,
  now: () => number,
): OncePerWake<T> {
  let answers = new Map<string, Promise<T>>()
  let wakes = -1
  let since = 0
  return (key, lookUp) => {
    if (wakes !== hub.wakes || now() - since >= MAX_AGE) {
      answers = new Map()
      wakes = hub.wakes
      since = now()
    }
    const known = answers.get(key)
    if (known !== undefined) return known
    const answer = lookUp()
    answers.set(key, answer)
    return answer
  }
}
