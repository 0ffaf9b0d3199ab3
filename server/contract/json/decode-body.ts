import { Failure } from '../../failure.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Returns a JSON body, or a part of it, as exactly the text that was sent.
 *
 * @throws Failure `bad-json` for invalid UTF-8
 */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    throw new Failure(
      'bad-json',
      isGzip ? 'The body is gzip. Send Content-Encoding: gzip.' : 'The body is not UTF-8.',
      { cause },
    )
  }
}
