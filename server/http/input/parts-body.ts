/** A body: text, or its bytes in parts. */
export type Body = string | readonly Buffer[]

/** The size in which a body in parts is written, bytes: so much is seen of a client's progress. */
const SLICE = 64 * 1024

/**
 * Makes the body of a response, and the headers that it needs. A large one in parts is written as the
 * client reads it.
 */
export function partsBody(
  body: Body,
): [body: string | Uint8Array<ArrayBuffer> | ReadableStream, headers: Record<string, string>] {
  if (typeof body === 'string') return [body, {}]
  const length = body.reduce((sum, part) => sum + part.length, 0)
  const headers = { 'Content-Length': String(length) }
  if (length <= SLICE) return [Buffer.concat(body), headers]
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
    for (let from = 0; from < part.length; from += SLICE) yield part.subarray(from, from + SLICE)
  }
}
