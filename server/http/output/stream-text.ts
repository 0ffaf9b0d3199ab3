import { ServerResponse } from 'node:http'
import type { Context } from 'hono'
import { isStoreFailure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { AUTHORIZATION_INTERVAL } from '../input/body/request-body.ts'
import { CHUNK_BYTES } from './parts-body.ts'

export interface StreamTextOptions {
  /** When the caller was authorized, by `performance.now()`. */
  readonly authorizedAt: number
  /** When the response must end, by `performance.now()`. */
  readonly deadline: number
  /** Called with the error that ended the response early, unless the client had disconnected. */
  readonly onError: (error: unknown) => void
}

/**
 * Returns a body that sends texts as the client reads them. If it must end early, the connection is
 * closed, so that the client does not mistake the part for the whole. It ends if the caller, who is
 * authorized again every {@link AUTHORIZATION_INTERVAL}, has lost access.
 *
 * @param texts ended with `return` when the client disconnects.
 */
export function streamText(
  c: Context<AppEnv>,
  first: string,
  texts: AsyncGenerator<string, void>,
  { authorizedAt, deadline, onError }: StreamTextOptions,
): ReadableStream<Uint8Array> {
  const { outgoing } = c.env
  let rest = Buffer.from(first)
  let lastAuthorization = authorizedAt
  let isCut = false
  let timer: NodeJS.Timeout | undefined
  const settle = () => clearTimeout(timer)
  const authorizeAgain = async () => {
    if (performance.now() - lastAuthorization < AUTHORIZATION_INTERVAL) return
    try {
      await c.get('authorizeAgain')?.(c)
    } catch (error) {
      // The snapshot may still be readable. The next attempt follows after the interval.
      if (!isStoreFailure(error)) throw error
    }
    lastAuthorization = performance.now()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setTimeout(
          () => end(controller, new Error('The client reads its response too slowly.')),
          Math.max(0, deadline - performance.now()),
        )
      },
      async pull(controller) {
        try {
          await authorizeAgain()
          while (rest.length === 0) {
            const { done, value } = await texts.next()
            if (isCut) return
            if (done) {
              settle()
              controller.close()
              return
            }
            rest = Buffer.from(value)
          }
        } catch (error) {
          // Both can fail because the client has disconnected.
          if (outgoing?.destroyed) settle()
          else end(controller, error)
          return
        }
        if (isCut) return
        controller.enqueue(rest.subarray(0, CHUNK_BYTES))
        rest = rest.subarray(CHUNK_BYTES)
      },
      async cancel() {
        settle()
        await texts.return()
      },
    },
    { highWaterMark: 0 },
  )

  function end(controller: ReadableStreamDefaultController, error: unknown): void {
    if (isCut) return
    isCut = true
    settle()
    void texts.return().catch(onError)
    onError(error)
    if (outgoing instanceof ServerResponse) outgoing.destroy()
    else controller.error(error)
  }
}
