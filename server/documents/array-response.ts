import { tagOfAll } from './entity-tag.ts'
import type { CreatedMany, UpsertedMany } from './repository/writes/create-many.ts'

/** Returns the response with the documents of an array. Those of a large array are streamed. */
export function arrayResponse(
  stored: CreatedMany | UpsertedMany,
  json: Record<string, string>,
): Response {
  const { documents, bytes, bodies, release } = stored
  const status = 'existed' in stored && stored.existed ? 200 : 201
  const headers: Record<string, string> = { ...json }
  if (documents !== undefined) {
    headers.ETag = `"${tagOfAll(documents.map(({ tag }) => tag).join('\n'))}"`
  }
  if (Array.isArray(bodies)) return new Response(`[${bodies.join()}]`, { status, headers })
  if (documents !== undefined && bytes !== undefined) {
    headers['Content-Length'] = String(bytes + Math.max(0, documents.length - 1) + '[]'.length)
  }
  const texts = commaSeparated(bodies)
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await texts.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}

/** Characters per chunk of a streamed array. */
const CHUNK_CHARACTERS = 64 * 1024

async function* commaSeparated(bodies: CreatedMany['bodies']): AsyncGenerator<string> {
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
