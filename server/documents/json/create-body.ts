import { CollectedBytes } from '../../collected-bytes.ts'
import { BULK_DOCUMENTS, DOCUMENT_BYTES, documentTooLarge } from '../../contract/document.ts'
import { decodeBody } from '../../contract/json/parse-json.ts'
import { Failure } from '../../failure.ts'
import { ArraySplitter } from './array-splitter.ts'

/** Maximum size of a part, documents and bytes. Parsing one takes a few milliseconds. */
const BATCH = { documents: 250, bytes: 256 * 1024 } as const

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

const OPEN_ARRAY = 0x5b
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
        if (part.length < BATCH.documents && bytes < BATCH.bytes) continue
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
