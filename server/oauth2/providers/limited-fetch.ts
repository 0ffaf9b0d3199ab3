/** Bytes of an answer that are read before it is given up: 1 MiB. */
const MAX_BYTES = 1_048_576

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * A `fetch` whose answers are read at once, up to 1 MiB.
 *
 * @throws Error (rejects) beyond it.
 */
export const limitedFetch =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    const response = await fetch(url, init)
    const parts: Uint8Array[] = []
    let bytes = 0
    for await (const part of response.body ?? []) {
      bytes += part.byteLength
      if (bytes > MAX_BYTES) throw new Error(`an answer of more than ${MAX_BYTES} bytes`)
      parts.push(part)
    }
    const { status, statusText, headers } = response
    // An empty body must be none where the status allows no body.
    return new Response(bytes === 0 ? null : Buffer.concat(parts), { status, statusText, headers })
  }
