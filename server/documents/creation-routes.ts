import { type Context, Hono } from 'hono'
import { CollectedBytes } from '../collected-bytes.ts'
import {
  BULK_BYTES,
  BULK_DOCUMENTS,
  COLLECTION_PARAMETER,
  DOCUMENT_BYTES,
  documentTooLarge,
} from '../contract/document.ts'
import { OPEN_ARRAY } from '../contract/json/json.ts'
import { decodeBody } from '../contract/json/parse-json.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import {
  callerIdOf,
  createReadAhead,
  type RequireRole,
  takeIfBodyArrived,
} from '../http/guards/require-role.ts'
import { requireJsonType } from '../http/input/body/json-body.ts'
import { bodyChunks, isCompressed, readBody } from '../http/input/body/request-body.ts'
import { conditionsOf, requireNoConditions } from '../http/input/headers.ts'
import { prefersAsync } from '../http/input/prefer.ts'
import { createCollectionParam, searchParameters } from '../http/input/url.ts'
import { described } from '../http/openapi/describe.ts'
import { jsonHeaders } from '../http/output/content-negotiation.ts'
import { requestedPath } from '../http/output/next-link.ts'
import { ArraySplitter } from './array-splitter.ts'
import { acceptedResponse } from './collections/whole-collection-routes.ts'
import { collection } from './describe-routes.ts'
import { tagOfAll } from './document.ts'
import { documentResponse } from './document-routes.ts'
import type { Documents } from './documents.ts'
import type { CreatedMany } from './import/create-many.ts'
import { importHandler, parseOnConflict } from './import/import-routes.ts'
import type { Importer } from './import/importer.ts'
import type { BeginImport } from './import/stored-part.ts'
import type { RecordEnd } from './record-end.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'

export interface CreationRoutesDeps {
  readonly documents: Documents
  readonly importer: Pick<Importer, 'run'>
  readonly beginImport: BeginImport
  readonly recordEnd: Pick<RecordEnd, 'of'>
  readonly requireRole: RequireRole
  readonly currentSchema: CurrentSchemaOf
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/** Returns the route that creates documents in a collection, or imports them. */
export function creationRoutes({
  documents,
  importer,
  beginImport,
  recordEnd,
  requireRole,
  currentSchema,
  idOf,
}: CreationRoutesDeps) {
  const collectionOf = createCollectionParam(idOf)
  const schemaAhead = createReadAhead((c) => currentSchema(collectionOf(c)))
  const editorCreates = requireRole('editor', { readAhead: schemaAhead.begin })
  const imports = importHandler({ importer, beginImport, recordEnd, collectionOf })
  return new Hono<AppEnv>().post(
    PATH,
    described(collection.post, editorCreates),
    imports,
    async (c) => {
      const json = jsonHeaders(c)
      const schema = takeIfBodyArrived(c, schemaAhead)
      const where = collectionOf(c)
      const onConflict = parseOnConflict(searchParameters(c))
      requireNoConditions(conditionsOf(c), NEW_DOCUMENTS)
      const body = await readDocuments(c)
      if ('parts' in body) {
        const stored = await documents.createMany(where, body.parts, {
          onConflict,
          respondAsync: prefersAsync(c),
          beginImport: (parts) => beginImport(where, { onConflict }, parts, callerIdOf(c)),
        })
        if ('job' in stored) return acceptedResponse(c, { id: stored.job })
        return arrayResponse(stored, json)
      }
      const { isNew, document: created } =
        onConflict === 'fail'
          ? { isNew: true, document: await documents.create(where, body.text, schema) }
          : await documents.upsert(where, body.text, onConflict, {
              schema,
              signal: () => c.req.raw.signal,
            })
      if (!isNew) return documentResponse(created, 200, json)
      const Location = `${requestedPath(c)}/${encodeURIComponent(created.id)}`
      return documentResponse(created, 201, { ...json, Location })
    },
  )
}

const NEW_DOCUMENTS = 'new documents. Create one with PUT instead'

/** A body up to this size is read whole before it is parsed, bytes. */
const WHOLE = 64 * 1024

async function readDocuments(c: Context<AppEnv>): Promise<CreateBody> {
  requireJsonType(c)
  const length = c.req.header('Content-Length')
  if (length !== undefined && Number(length) <= WHOLE && !isCompressed(c)) {
    return createBodyOf(await readBody(c, WHOLE))
  }
  return readCreateBody(bodyChunks(c, BULK_BYTES))
}

/** Returns the response with the documents of an array. Skipped ones are read while it is sent. */
function arrayResponse(
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

/** Maximum size of a part, documents and bytes. Parsing one takes a few milliseconds. */
const PART = { documents: 250, bytes: 256 * 1024 } as const

/** Maximum number of bytes that are split in one step. */
const CHUNK_BYTES = 64 * 1024

/**
 * The body of a request that creates documents: one document as JSON, or the elements of an array
 * in parts.
 */
export type CreateBody =
  | { readonly text: string }
  | { readonly parts: AsyncIterable<readonly string[]> }

/**
 * Reads the body of a request that creates documents. An array is split as it arrives.
 *
 * @param chunks closed if they are not read to their end.
 * @throws Failure `too-large` for a single document of more than 1 MiB; `bad-json` for invalid
 * UTF-8. Parts throw these for each element, `bad-json` for a malformed array, and `too-large` for
 * more than {@link BULK_DOCUMENTS} elements.
 */
export async function readCreateBody(chunks: AsyncIterable<Uint8Array>): Promise<CreateBody> {
  const rest = chunks[Symbol.asyncIterator]()
  const head = new CollectedBytes()
  for (;;) {
    const { done, value } = await rest.next()
    if (done) return { text: decodeBody(head.take()) }
    head.add(value)
    const first = firstOf(value)
    if (first === OPEN_ARRAY) return { parts: closing(partsOf(joined(head.take(), rest)), rest) }
    if (first !== undefined) return { text: await textOf(joined(head.take(), rest)) }
    if (head.length > DOCUMENT_BYTES) {
      await rest.return?.()
      throw documentTooLarge()
    }
  }
}

/** Returns the same for a complete body. @throws Failure as {@link readCreateBody} */
export function createBodyOf(bytes: Uint8Array): CreateBody {
  if (firstOf(bytes) === OPEN_ARRAY) return { parts: partsOf([bytes]) }
  if (bytes.length > DOCUMENT_BYTES) throw documentTooLarge()
  return { text: decodeBody(bytes) }
}

const firstOf = (bytes: Uint8Array) => bytes.find((byte) => !WHITESPACE.includes(byte))

const WHITESPACE: readonly number[] = [0x20, 0x0a, 0x0d, 0x09]

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>) {
  try {
    yield head
    for (;;) {
      const { done, value } = await rest.next()
      if (done) return
      yield value
    }
  } finally {
    await rest.return?.()
  }
}

/**
 * Returns the values of a generator, whose `return` also closes `source`. The `finally` of the
 * generator is not enough: it does not run if the generator has not started.
 */
function closing<T>(values: AsyncGenerator<T>, source: AsyncIterator<unknown>): AsyncIterable<T> {
  const iterator: AsyncIterator<T> = {
    next: () => values.next(),
    async return() {
      await values.return(undefined)
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = new CollectedBytes()
  for await (const chunk of chunks) {
    bytes.add(chunk)
    if (bytes.length > DOCUMENT_BYTES) throw documentTooLarge()
  }
  return decodeBody(bytes.take())
}

async function* partsOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const splitter = new ArraySplitter()
  let part: string[] = []
  let bytes = 0
  let count = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES) {
      for (const element of splitter.push(chunk.subarray(at, at + CHUNK_BYTES))) {
        count++
        if (count > BULK_DOCUMENTS) throw tooMany()
        part.push(decodeBody(element))
        bytes += element.length
        if (part.length < PART.documents && bytes < PART.bytes) continue
        yield part
        part = []
        bytes = 0
      }
    }
  }
  splitter.end()
  if (part.length > 0) yield part
}

const tooMany = () =>
  new Failure(
    'too-large',
    `An array can contain at most ${BULK_DOCUMENTS.toLocaleString('en')} documents.`,
  )
