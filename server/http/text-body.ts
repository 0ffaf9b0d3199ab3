import type { Context } from 'hono'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { requireJsonType } from './json-body.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a JSON body as text, so that whoever parses it sees what was sent.
 *
 * @param most bytes.
 * @throws Failure `unsupported-media-type`, `too-large`; `bad-json` for what is no UTF-8.
 */
export async function textBody(c: Context<AppEnv>, most: number): Promise<string> {
  requireJsonType(c)
  const tooLarge = () =>
    new Failure('too-large', `The body is larger than ${Math.floor(most / 1024)} KiB.`)
  if (Number(c.req.header('Content-Length') ?? 0) > most) throw tooLarge()
  const body = await read(c, most)
  if (body === undefined) throw tooLarge()
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new Failure('bad-json', 'The body is not UTF-8.', { cause })
  }
}

/** The whole body; undefined where it is larger than that. */
async function read(c: Context<AppEnv>, most: number): Promise<Uint8Array | undefined> {
  if (c.req.header('Content-Length') !== undefined) {
    return new Uint8Array(await c.req.arrayBuffer())
  }
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of c.req.raw.body ?? []) {
    length += part.length
    if (length > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
