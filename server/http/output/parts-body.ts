/** A body as text, or as bytes in parts. */
export type Body = string | readonly Buffer[]

/** Maximum size of a written chunk, bytes. The server measures a client's progress in chunks. */
export const CHUNK_BYTES = 64 * 1024

/**
 * Returns the body of a response and the headers that it needs. A body in parts that exceeds one
 * chunk is streamed as the client reads it.
 */
export function partsBody(
  body: Body,
): [body: string | Uint8Array<ArrayBuffer> | ReadableStream, headers: Record<string, string>] {
  if (typeof body === 'string') return [body, {}]
  const length = body.reduce((sum, part) => sum + part.length, 0)
  const headers = { 'Content-Length': String(length) }
  if (length <= CHUNK_BYTES) return [Buffer.concat(body), headers]
  const slices = slicesOf(body)
  const stream = new ReadableStream(
    {
      pull(controller) {
        const { value, done } = slices.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
  return [stream, headers]
}

function* slicesOf(parts: readonly Buffer[]): Generator<Buffer, void> {
  for (const part of parts) {
    for (let from = 0; from < part.length; from += CHUNK_BYTES)
      yield part.subarray(from, from + CHUNK_BYTES)
  }
}
