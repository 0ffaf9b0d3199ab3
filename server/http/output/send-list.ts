import type { Context, TypedResponse } from 'hono'
import type { JSONParsed } from 'hono/utils/types'
import type { AppEnv } from './env.ts'
import { partsBody } from './parts-body.ts'
import { API_JSON } from './render-failure.ts'
import type { Reserve } from './response-room.ts'

/** So much text is printed at once, characters: about a millisecond of work. */
const PART = 64 * 1024

/** Sends a list as JSON, as `c.json` does, in the type too; a long one in steps. */
export type SendList = <T>(
  c: Context<AppEnv>,
  items: Iterable<T>,
) => Promise<Response & TypedResponse<JSONParsed<T[]>, 200, 'json'>>

/**
 * Makes a {@link SendList}. Items are taken as they are printed, so that an iterable may compute them
 * in the same steps.
 *
 * @param nextTurn awaited between two steps, for other requests to have their turn.
 */
export function createSendList(reserve: Reserve, nextTurn: () => Promise<void>): SendList {
  return async <T>(c: Context<AppEnv>, items: Iterable<T>) => {
    const parts: Buffer[] = []
    let text = '['
    let comma = ''
    for (const item of items) {
      text += comma + JSON.stringify(item)
      comma = ','
      if (text.length < PART) continue
      parts.push(Buffer.from(text))
      text = ''
      await nextTurn()
    }
    parts.push(Buffer.from(`${text}]`))
    const [body, length] = partsBody(parts)
    await reserve(c, Number(length['Content-Length']))
    // The body has this type: the console's client reads it from here.
    return c.body(body, 200, { ...length, 'Content-Type': API_JSON }) as never
  }
}
