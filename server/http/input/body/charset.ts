import { Failure } from '../../../failure.ts'
import { parseParameter, splitUnquoted } from '../split-unquoted.ts'

/** Matches UTF-8, and US-ASCII, which is part of it. Some clients send single quotes. */
const UTF_8 = /^'?(?:utf-?8|us-ascii)'?$/i

/**
 * Rejects a `Content-Type` with a charset other than UTF-8, which the server would misread.
 *
 * @throws Failure `unsupported-media-type`
 */
export function requireUtf8(type: string): void {
  const [, ...parameters] = splitUnquoted(type, ';')
  for (const parameter of parameters) {
    const [name, charset = ''] = parseParameter(parameter)
    if (name !== 'charset' || charset === '' || UTF_8.test(charset)) continue
    throw new Failure(
      'unsupported-media-type',
      `The body must be UTF-8, but Content-Type has the charset ${JSON.stringify(charset.slice(0, 64))}.`,
      { field: 'Content-Type' },
    )
  }
}
