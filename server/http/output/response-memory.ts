import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'
import { isSystemPath } from '../two-part-router.ts'

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
  /**
   * Counts a Node response in the share of authenticated clients. Other clients have a smaller
   * share. Does nothing for other responses, such as those of tests.
   */
  authenticate(response: unknown): void
}

/** Reserves bytes for the response to a request; see {@link ResponseMemory}. */
export type Reserve = (c: Context<AppEnv>, bytes: number) => Promise<void> | undefined

/** Matches the system paths that return data: jobs, schemas and exports. */
const SYSTEM_DATA = /^\/_(?:job\/|schema\/|export$)/

/**
 * Rejects requests for data while the response budget is exhausted. Administration and health
 * requests pass; their large responses reserve memory themselves.
 *
 * Fails with `unavailable`.
 */
export const requireResponseMemory = (memory: ResponseMemory) =>
  createMiddleware<AppEnv>((c, next) => {
    const { path } = c.req
    if (!isSystemPath(path) || SYSTEM_DATA.test(path)) memory.requireAvailable()
    return next()
  })
