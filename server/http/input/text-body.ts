import type { Context } from 'hono'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { requireJsonType } from './json-body.ts'
import { readBody } from './request-body.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a JSON body as text, so that the caller parses exactly what was sent.
 *
 * @param maxBytes maximum size, bytes.
 * @throws Failure `unsupported-media-type`; `bad-json` for invalid UTF-8; as {@link readBody}.
 */
export async function textBody(c: Context<AppEnv>, maxBytes: number): Promise<string> {
  requireJsonType(c)
  const body = await readBody(c, maxBytes)
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new Failure('bad-json', 'The body is not UTF-8.', { cause })
  }
}
