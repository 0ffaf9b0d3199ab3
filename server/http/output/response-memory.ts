import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'

/** The memory budget for responses that clients have not read yet. */
export interface ResponseMemory {
  /**
   * Does nothing for a response that is not of Node, such as those of tests.
   *
   * @throws Failure `unavailable` if the budget is exhausted. A part of it is reserved for the
   * administration.
   */
  requireAvailable(response: unknown): void
  /**
   * Reserves bytes for a Node response before it is prepared. The reservation replaces the previous
   * one. Does nothing for other responses, such as those of tests. Returns a promise only if the
   * response has to wait.
   *
   * @throws Failure `unavailable` if the budget is exhausted.
   */
  reserve(response: unknown, bytes: number): Promise<void> | undefined
}

/** Reserves bytes for the response to a request; see {@link ResponseMemory}. */
export type Reserve = (c: Context<AppEnv>, bytes: number) => Promise<void> | undefined

/** Rejects requests while the budget for responses is exhausted. Fails with `unavailable`. */
export const requireResponseMemory = (memory: ResponseMemory) =>
  createMiddleware<AppEnv>((c, next) => {
    memory.requireAvailable(c.env.outgoing)
    return next()
  })
