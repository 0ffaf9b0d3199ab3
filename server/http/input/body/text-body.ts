import type { Context } from 'hono'
import { decodeBody } from '../../../contract/json/decode-body.ts'
import type { AppEnv } from '../../env.ts'
import { requireJsonType } from './json-type.ts'
import { readBody } from './request-body.ts'

/**
 * Reads a JSON body as text, so that the caller parses exactly what was sent.
 *
 * @param maxBytes maximum size, bytes.
 * @throws Failure `unsupported-media-type`; `bad-json` for invalid UTF-8; as {@link readBody}.
 */
export async function textBody(c: Context<AppEnv>, maxBytes: number): Promise<string> {
  requireJsonType(c)
  return decodeBody(await readBody(c, maxBytes))
}
