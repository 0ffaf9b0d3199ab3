/** Maximum size of a response body, bytes: 1 MiB. */
const MAX_BYTES = 1_048_576

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * Returns a `fetch` that reads the whole response body before it resolves, up to 1 MiB.
 *
 * @throws Error (rejects) if the body is larger.
 */
export const limitedFetch =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init)
    const parts: Uint8Array[] = []
    let bytes = 0
    for await (const part of response.body ?? []) {
      bytes += part.byteLength
      if (bytes > MAX_BYTES) throw new Error(`the response has more than ${MAX_BYTES} bytes`)
      parts.push(part)
    }
    const { status, statusText, headers } = response
    // `Response` accepts no body for statuses such as 204, not even an empty one.
    return new Response(bytes === 0 ? null : Buffer.concat(parts), { status, statusText, headers })
  }
