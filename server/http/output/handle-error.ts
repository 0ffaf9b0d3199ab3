import type { Context } from 'hono'
import { type Failure, isStoreFailure, systemCode } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { renderFailure, toFailure } from './render-failure.ts'

/**
 * Returns the error handler of the application, which renders the error and logs those of the
 * server.
 *
 * @param logError returns a function that logs errors under a message.
 */
export const createErrorHandler =
  (logError: (message: string) => (error: unknown) => void) =>
  (error: Error, c: Context<AppEnv>): Response | Promise<Response> => {
    const failure = toFailure(error)
    if (failure.kind.status >= 500 && !isKnown(failure) && !hasLeft(failure, c))
      logError(failure.message)(isStoreFailure(failure) ? failure : (failure.cause ?? failure))
    if (failure.code === 'database-not-found') c.env.listener.countRejected?.()
    return renderFailure(failure, c)
  }

/** Returns whether the log has the reason: an outage of the store is logged when it begins. */
const isKnown = ({ code, cause }: Failure) =>
  code === 'busy' || (code === 'unavailable' && cause === undefined)

/**
 * Returns whether the client disconnected before its body was read. The whole body may have arrived:
 * an import reads it more slowly.
 */
const hasLeft = ({ cause }: Failure, { env }: Context<AppEnv>) =>
  systemCode(cause) === 'ECONNRESET' &&
  (env.incoming?.complete === false || env.outgoing?.destroyed === true)
