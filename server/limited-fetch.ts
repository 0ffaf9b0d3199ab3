/** Maximum size of a response body, bytes: 1 MiB. */
const MAX_BYTES = 1_048_576

const MAX_REDIRECTS = 2

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

/**
 * Returns a `fetch` that follows redirects within the origin, such as those of Django to a trailing
 * slash. Only GET requests without credentials are redirected: those for metadata and keys.
 */
export const redirectedFetch =
  (fetch: Fetch): Fetch =>
  async (url, init) => {
    let response = await fetch(url, init)
    if (init.method !== 'GET' || new Headers(init.headers).has('Authorization')) return response
    let from = url
    for (let count = 0; count < MAX_REDIRECTS; count++) {
      const location = response.headers.get('Location')
      const isRedirect = [301, 302, 303, 307, 308].includes(response.status)
      const target = isRedirect && location !== null ? URL.parse(location, from) : null
      if (target === null || target.origin !== new URL(url).origin) break
      from = target.href
      response = await fetch(from, init)
    }
    return response
  }
