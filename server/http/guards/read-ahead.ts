import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'

/** Reads that begin before the caller is known. */
export interface ReadAhead<T> {
  /** See `readAhead` of `RouteOptions`. */
  readonly begin: (c: Context<AppEnv>) => void
  /** Returns the read that was begun for a request; undefined if none was, or in later calls. */
  readonly take: (c: Context<AppEnv>) => T | undefined
}

/**
 * Returns the read ahead of a route, which has at most one.
 *
 * @param read begins a read. If it throws, the handler has to fail with the same error, after the
 * checks of the caller.
 */
export function createReadAhead<T>(read: (c: Context<AppEnv>) => T): ReadAhead<T> {
  return {
    begin(c) {
      try {
        const reading = read(c)
        // The handler awaits it, unless the caller has no permission.
        if (reading instanceof Promise) reading.catch(() => {})
        c.set('readAhead', reading)
      } catch {}
    },
    take(c) {
      const reading = c.get('readAhead') as T | undefined
      // The context of a request lives until the response is sent.
      c.set('readAhead', undefined)
      return reading
    },
  }
}

/**
 * Returns what was read ahead of a request with a body; undefined if the body has not arrived
 * completely, because what was read could change until then.
 */
export const takeIfBodyArrived = <T>(c: Context<AppEnv>, { take }: ReadAhead<T>): T | undefined => {
  const reading = take(c)
  return c.env.incoming?.complete === true ? reading : undefined
}
