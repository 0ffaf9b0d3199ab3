/** Matches the type of event streams, which may be endless. */
const STREAM = /^text\/event-stream/

/** Returns whether the length of a body is unknown: that of an event stream or an export. */
const isStream = (headers: Headers): boolean =>
  headers.has('Content-Disposition') || STREAM.test(headers.get('Content-Type') ?? '')

/**
 * Returns the response to a `HEAD` request: that of the `GET` request without its body, with the
 * same Content-Length (RFC 9110 §9.3.2).
 */
export async function toHeadResponse(response: Response): Promise<Response> {
  const { status, headers } = response
  const isMeasured = status === 204 || status === 304 || headers.has('Content-Length')
  if (!isMeasured && isStream(headers)) await response.body?.cancel()
  else if (!isMeasured) {
    headers.set('Content-Length', String((await response.arrayBuffer()).byteLength))
  }
  return new Response(null, { status, headers })
}
