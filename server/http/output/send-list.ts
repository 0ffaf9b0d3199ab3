import type { Context, TypedResponse } from 'hono'
import type { JSONParsed } from 'hono/utils/types'
import { nextTurn } from '../../concurrency/turns.ts'
import type { AppEnv } from '../env.ts'
import { partsBody } from './parts-body.ts'
import { API_JSON } from './render-failure.ts'
import type { Reserve } from './response-memory.ts'

/** Characters serialized per step, about a millisecond of work. */
const CHUNK_LENGTH = 64 * 1024

/**
 * Sends a list as JSON, typed like `c.json`. Long lists are serialized in steps, and their memory is
 * reserved before each.
 *
 * @throws Failure `unavailable` if there is no memory, or the client disconnects.
 */
export type SendList = <T>(
  c: Context<AppEnv>,
  items: Iterable<T> | AsyncIterable<T>,
) => Promise<Response & TypedResponse<JSONParsed<T[]>, 200, 'json'>>

/**
 * Returns a {@link SendList}. It takes items as it serializes them, so an iterable can compute them
 * in the same steps.
 */
export function createSendList(reserve: Reserve): SendList {
  return async <T>(c: Context<AppEnv>, items: Iterable<T> | AsyncIterable<T>) => {
    const parts: Buffer[] = []
    let text = '['
    let comma = ''
    let size = 0
    for await (const item of items) {
      text += comma + JSON.stringify(item)
      comma = ','
      if (text.length < CHUNK_LENGTH) continue
      const part = Buffer.from(text)
      parts.push(part)
      size += part.length
      text = ''
      await reserve(c, size + CHUNK_LENGTH)
      await nextTurn()
    }
    parts.push(Buffer.from(`${text}]`))
    const [body, length] = partsBody(parts)
    await reserve(c, Number(length['Content-Length']))
    // The body has this type; the console's client infers it from here.
    return c.body(body, 200, { ...length, 'Content-Type': API_JSON }) as never
  }
}
