import { tagOfAll } from './entity-tag.ts'
import type { CreatedMany } from './import/create-many.ts'

/** Returns the response with the documents of an array. Skipped ones are read while it is sent. */
export function arrayResponse(
  { existed, tags, bodies }: CreatedMany,
  json: Record<string, string>,
): Response {
  const status = existed ? 200 : 201
  const headers = { ...json, ...(tags && { ETag: `"${tagOfAll(tags.join('\n'))}"` }) }
  if (!(Symbol.asyncIterator in bodies))
    return new Response(`[${bodies.join()}]`, { status, headers })
  const texts = commaSeparated(bodies)
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await texts.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}

/** Characters per chunk of a streamed array. */
const CHUNK_CHARACTERS = 64 * 1024

async function* commaSeparated(bodies: AsyncIterable<string>): AsyncGenerator<string> {
  let text = '['
  let separator = ''
  for await (const body of bodies) {
    text += separator + body
    separator = ','
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  yield `${text}]`
}
