/** Read timeout in ms: for the response, and for each part of its body. */
export const READ_TIMEOUT_MS = 15_000
/** Timeout for the response to a change, ms. The time to upload the body is added. */
export const CHANGE_TIMEOUT_MS = 30_000
/** Slowest upload rate that the timeout allows for, bytes per ms (10 kB/s). */
const MIN_UPLOAD_RATE = 10

export class ResponseTimeout extends Error {
  override readonly name = 'ResponseTimeout'

  constructor(limit: number) {
    const seconds = Math.round(limit / 1000)
    super(`Gatehouse did not respond within ${seconds} s. Check the server and the network.`)
  }
}

/**
 * Fetches with a timeout: {@link READ_TIMEOUT_MS} for reads, {@link CHANGE_TIMEOUT_MS} for changes.
 * Each part of a response body has {@link READ_TIMEOUT_MS}. The call, and reading the body, reject
 * with {@link ResponseTimeout}.
 */
export async function fetchWithTimeout(url: RequestInfo | URL, init: RequestInit = {}) {
  const abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => abort.abort(new ResponseTimeout(ms)), ms)
  }
  const signals = [abort.signal, ...(init.signal ? [init.signal] : [])]
  const reads = (init.method ?? 'GET') === 'GET'
  limit(reads ? READ_TIMEOUT_MS : CHANGE_TIMEOUT_MS + sizeOf(init.body) / MIN_UPLOAD_RATE)
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) })
    // Chromium gives a 204 response a body, but the Response constructor rejects one.
    if (response.body === null || response.status === 204) {
      clearTimeout(timer)
      return response
    }
    const reader = response.body.getReader()
    limit(READ_TIMEOUT_MS)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read().catch((cause: unknown) => {
          clearTimeout(timer)
          // Browsers report every abort while a body is read as an AbortError.
          throw abort.signal.aborted ? abort.signal.reason : cause
        })
        if (done) {
          clearTimeout(timer)
          controller.close()
        } else {
          limit(READ_TIMEOUT_MS)
          controller.enqueue(value)
        }
      },
      cancel(reason) {
        clearTimeout(timer)
        return reader.cancel(reason)
      },
    })
    const { status, statusText, headers } = response
    return new Response(body, { status, statusText, headers })
  } catch (cause) {
    clearTimeout(timer)
    throw cause
  }
}

function sizeOf(body: BodyInit | null | undefined): number {
  if (typeof body === 'string') return body.length
  if (body instanceof Blob) return body.size
  return 0
}
