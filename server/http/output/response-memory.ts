import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'

/** The memory budget for responses that clients have not read yet. */
export interface ResponseMemory {
  /** @throws Failure `unavailable` if the budget is exhausted. */
  requireAvailable(): void
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

/**
 * Matches requests for documents, jobs, schemas and exports. Other names that begin with `_` belong
 * to the system.
 */
const DATA = /^\/(?:[^_]|_job\/|_schema\/|_export$)/

/**
 * Rejects requests for data while the response budget is exhausted. Administration and health
 * requests pass; their large responses reserve memory themselves.
 *
 * Fails with `unavailable`.
 */
export const requireResponseMemory = (memory: ResponseMemory) =>
  createMiddleware<AppEnv>((c, next) => {
    if (DATA.test(c.req.path)) memory.requireAvailable()
    return next()
  })
