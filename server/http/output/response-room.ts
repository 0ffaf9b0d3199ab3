import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './env.ts'

/** The memory that the process has for responses which clients have not read yet. */
export interface ResponseRoom {
  /** @throws Failure `unavailable` where there is none. */
  requireRoom(): void
  /**
   * Holds bytes for a response of Node's that is about to be prepared, in place of what it held
   * before. Does nothing for other responses, such as those of tests.
   *
   * @throws Failure `unavailable` where there is no room for it.
   */
  reserve(response: unknown, bytes: number): Promise<void>
}

/** Holds bytes for the response to a request; see {@link ResponseRoom}. */
export type Reserve = (c: Context<AppEnv>, bytes: number) => Promise<void>

/** Requests for documents, jobs and schemas; names that begin with `_` are the system's otherwise. */
const DATA = /^\/(?:[^_]|_job\/|_schema\/)/

/**
 * Rejects requests for data while there is no room for responses. The administration and health go
 * on; what is large there reserves its room.
 *
 * Fails with `unavailable`.
 */
export const requireResponseRoom = (room: ResponseRoom) =>
  createMiddleware<AppEnv>((c, next) => {
    if (DATA.test(c.req.path)) room.requireRoom()
    return next()
  })
