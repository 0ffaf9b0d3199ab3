/** Matches streaming types, which are never measured: a stream may be endless. */
const STREAM = /^(?:text\/event-stream|application\/x-ndjson|text\/csv)/

/**
 * Returns the response to a `HEAD` request: that of the `GET` request without its body, with the
 * same Content-Length (RFC 9110 §9.3.2).
 */
export async function toHeadResponse(response: Response): Promise<Response> {
  const { status, headers } = response
  const isMeasured = status === 204 || status === 304 || headers.has('Content-Length')
  if (!isMeasured && STREAM.test(headers.get('Content-Type') ?? '')) await response.body?.cancel()
  else if (!isMeasured) {
    headers.set('Content-Length', String((await response.arrayBuffer()).byteLength))
  }
  return new Response(null, { status, headers })
}
