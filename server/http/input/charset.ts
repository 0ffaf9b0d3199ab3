import { Failure } from '../../failure.ts'

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/gi

/** Matches UTF-8, and US-ASCII, which is part of it. */
const UTF_8 = /^(?:utf-?8|us-ascii)$/i

/**
 * Rejects a `Content-Type` with another charset than UTF-8, in which the server would misread the
 * body.
 *
 * @throws Failure `unsupported-media-type`
 */
export function requireUtf8(type: string): void {
  for (const [, charset = ''] of type.matchAll(CHARSET)) {
    if (UTF_8.test(charset)) continue
    throw new Failure(
      'unsupported-media-type',
      `The body must be UTF-8, but Content-Type has the charset ${JSON.stringify(charset.slice(0, 64))}.`,
      { field: 'Content-Type' },
    )
  }
}
