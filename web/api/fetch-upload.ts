/**
 * Returns a function like `fetch` that reports the fraction of the body that was sent, 0 to 1. It has
 * no timeout, because the server reads an import as fast as it stores it; cancel it by its signal.
 */
export const createUpload =
  (onProgress: (fraction: number) => void, signal: AbortSignal) =>
  (url: RequestInfo | URL, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const request = new XMLHttpRequest()
      request.open(init.method ?? 'GET', String(url))
      for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value)
      request.upload.onprogress = ({ loaded, total }) =>
        onProgress(total === 0 ? 1 : loaded / total)
      // A 204, 205 or 304 must not have a body, not even an empty one.
      request.onload = () =>
        resolve(new Response(request.response || null, { status: request.status }))
      request.onerror = () => reject(new TypeError('The connection was lost.'))
      request.onabort = () => reject(signal.reason)
      signal.addEventListener('abort', () => request.abort(), { once: true })
      request.send(init.body as XMLHttpRequestBodyInit | null)
    })
