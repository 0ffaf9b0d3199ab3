import type pg from 'pg'
import type { Message } from './message.ts'

/** How long a query waits for a response, ms. */
const QUERY_TIMEOUT = 40_000

/** A query without its response. */
interface Waiting {
  /** Undefined once the query has ended. */
  fail: ((error: Error) => void) | undefined
}

/**
 * Runs a query, with a limit of time. The promises and timers of `pg` refer to the result, and V8
 * keeps it until the next major garbage collection: the memory of a long import or export would
 * grow.
 *
 * @param timeout ms
 */
export const request = (
  client: pg.ClientBase,
  config: Message | pg.QueryConfig,
  timeout: number = QUERY_TIMEOUT,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const waiting: Waiting = { fail: reject }
    // Not a closure, which would refer to the result.
    const timer = setTimeout(expire, timeout, waiting)
    client.query(config as pg.QueryConfig, (error: Error | null, result: unknown) => {
      clearTimeout(timer)
      waiting.fail = undefined
      if (error) reject(error)
      else resolve(result)
    })
  })

const expire = ({ fail }: Waiting) => fail?.(new Error('Query read timeout'))
