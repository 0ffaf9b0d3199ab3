import type { NextTurn } from '../../../concurrency/turns.ts'
import type { Caller } from '../../../concurrency/work-queue.ts'
import { MAX_SYNC_BULK_DOCUMENTS } from '../../../contract/document.ts'
import type { OnConflict } from '../../../contract/import.ts'
import { invariant } from '../../../contract/invariant.ts'
import { jsonPointer } from '../../../contract/json/json-pointer.ts'
import { Failure, failureAt } from '../../../failure.ts'
import { OutcomeUnknown } from '../../../storage/availability/unavailable.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { type NewDocument, quoteId, toDocument } from '../../document.ts'
import { createEntityTag } from '../../entity-tag.ts'
import { type StoredPart, storedParts } from '../../import/stored-part.ts'
import { NotUnique } from '../../indexes/write/collection-indexes.ts'
import { parseInTurns } from '../../json/parse-in-turns.ts'
import type { CheckDocuments } from '../../schemas/schemas.ts'
import type { DocumentRepository, StoredDocument } from '../stored-documents.ts'

/** Arrays up to this size are stored in one transaction; `bytes` counts the elements as sent. */
const SMALL_REQUEST = { documents: 1_000, bytes: 1024 * 1024 } as const

/** Upserts up to this size are stored in one transaction, which other writers wait for. */
const SMALL_UPSERT = { documents: MAX_SYNC_BULK_DOCUMENTS, bytes: 1024 * 1024 } as const

/**
 * The first part of an array is parsed as soon as it arrives if it has at most this many
 * characters.
 */
const FIRST_PART_LENGTH = 4 * 1024

/** The stored documents of an array. */
export interface CreatedMany {
  /** In the order of the request. */
  readonly documents: readonly { readonly id: string; readonly tag: string }[]
  /** Total size of the bodies, bytes. */
  readonly bytes: number
  /** The bodies in the order of the request. Those of a large array are read from the database. */
  readonly bodies: Iterable<string> | AsyncIterable<string>
  /** Must be called if the bodies are not read to their end. */
  release(): void
}

/** The documents of an array after some of them were created, and others replaced or skipped. */
export interface UpsertedMany extends Pick<CreatedMany, 'bodies' | 'release'> {
  /** Whether any of them existed before. */
  readonly existed: boolean
  /** Undefined if any was skipped: the stored ones are read while they are sent. */
  readonly documents?: CreatedMany['documents']
  readonly bytes?: number
}

/** What an upsert of an array does besides storing the documents. */
export interface UpsertOptions {
  readonly onConflict: Exclude<OnConflict, 'fail'>
  readonly respondAsync: boolean
  /** Starts an import of the array as a job, and returns its id. */
  readonly beginImport: (parts: AsyncIterable<StoredPart>) => Promise<{ readonly id: string }>
}

/** Creates the documents of large arrays, all or none (`jobs/jobs.ts`). */
export interface LargeArrays {
  /**
   * Creates the documents of an array, all or none. The change is durable when the promise
   * resolves, also with a job.
   *
   * @param parts read as they are stored.
   * @param respondAsync whether the caller requests a job. An array of more than
   * `MAX_SYNC_BULK_DOCUMENTS` documents always becomes a job.
   * @param caller nothing is created if its client disconnects, unless the change is committed or
   * the job has begun.
   * @throws Failure `conflict`, `too-many-requests`; `busy` if the client has disconnected; any error
   * that `parts` throws
   */
  create(
    where: CollectionRef,
    parts: AsyncIterable<readonly NewDocument[]>,
    respondAsync: boolean,
    caller?: Caller,
  ): Promise<CreatedMany | { readonly job: string }>
}

export interface CreateManyDeps {
  readonly repository: Pick<DocumentRepository, 'insert' | 'write' | 'read'>
  readonly now: () => number
  readonly check: CheckDocuments
  readonly large: LargeArrays
  readonly nextTurn: NextTurn
}

/**
 * Creates the documents of an array, all or none.
 *
 * @param parts the elements as JSON (`create-body.ts`). Closed if they are not read to their end.
 * @param caller see {@link LargeArrays.create}; small arrays do not need it.
 * @throws Failure `bad-json`, `invalid`, `conflict`, `too-large`, `too-many-requests`
 */
export async function createMany(
  deps: CreateManyDeps,
  where: CollectionRef,
  parts: AsyncIterable<readonly string[]>,
  respondAsync: boolean,
  caller?: Caller,
): Promise<CreatedMany | { readonly job: string }> {
  const rest = parts[Symbol.asyncIterator]()
  const documents: NewDocument[] = []
  let bytes = 0
  try {
    while (
      !respondAsync &&
      documents.length <= SMALL_REQUEST.documents &&
      bytes <= SMALL_REQUEST.bytes
    ) {
      const { done, value } = await rest.next()
      if (done) return await storeSmall(deps, where, documents)
      if (documents.length > 0 || sizeOf(value) > FIRST_PART_LENGTH) await deps.nextTurn()
      documents.push(...(await parseElements(value, documents.length, deps)))
      for (const text of value) bytes += Buffer.byteLength(text)
    }
    const validated = validateParts(deps, where, documents, rest)
    return await deps.large.create(where, validated, respondAsync, caller)
  } catch (error) {
    await rest.return?.()
    throw error
  }
}

/**
 * Creates the documents of an array, and replaces or skips those that exist. A small array is stored
 * as a whole or not at all. A job imports a larger one.
 *
 * @param parts see {@link createMany}.
 * @throws Failure as {@link createMany}
 */
export async function upsertMany(
  deps: CreateManyDeps,
  where: CollectionRef,
  parts: AsyncIterable<readonly string[]>,
  { onConflict, respondAsync, beginImport }: UpsertOptions,
): Promise<UpsertedMany | { readonly job: string }> {
  const rest = parts[Symbol.asyncIterator]()
  const read: (readonly string[])[] = []
  let [count, bytes] = [0, 0]
  try {
    while (!respondAsync && count <= SMALL_UPSERT.documents && bytes <= SMALL_UPSERT.bytes) {
      const { done, value } = await rest.next()
      if (done) return await upsertSmall(deps, where, read, onConflict)
      read.push(value)
      count += value.length
      for (const text of value) bytes += Buffer.byteLength(text)
    }
    const { id } = await beginImport(storedParts(numbered(read, rest, deps.nextTurn)))
    return { job: id }
  } catch (error) {
    await rest.return?.()
    throw error
  }
}

/** Yields the elements of an array as records of an import, whose lines are their positions. */
async function* numbered(
  first: (readonly string[])[],
  rest: AsyncIterator<readonly string[]>,
  nextTurn: NextTurn,
) {
  let line = 0
  const records = (texts: readonly string[]) => texts.map((text) => ({ line: ++line, text }))
  for (const texts of first.splice(0)) yield records(texts)
  for (;;) {
    const { done, value } = await rest.next()
    if (done) return
    await nextTurn()
    yield records(value)
  }
}

async function upsertSmall(
  deps: CreateManyDeps,
  where: CollectionRef,
  parts: readonly (readonly string[])[],
  onConflict: UpsertOptions['onConflict'],
): Promise<UpsertedMany> {
  const documents: NewDocument[] = []
  for await (const part of validateParts(deps, where, [], parts.values())) documents.push(...part)
  requireDistinct(documents)
  const rows = documents.map((each) => ({ ...each, tag: createEntityTag() }))
  const results = await deps.repository
    .write(where, rows, { replaces: onConflict === 'replace', all: true })
    .catch(withDocumentIds(documents))
  const existed = results.some((result) => result !== 'created')
  if (!results.includes('exists')) return { existed, ...inMemory(rows) }
  async function* bodies() {
    for (const [at, { id, body }] of rows.entries()) {
      if (results[at] !== 'exists') yield body
      // If the document has been deleted since, only its id is known.
      else yield (await deps.repository.read({ ...where, id }))?.body ?? JSON.stringify({ id })
    }
  }
  return { existed, bodies: bodies(), release() {} }
}

/** Returns the length of documents as text, in UTF-16 code units. */
const sizeOf = (texts: readonly string[]): number =>
  texts.reduce((size, text) => size + text.length, 0)

/** Parses elements of an array. `from` is the index of the first one. */
async function parseElements(
  texts: readonly string[],
  from: number,
  { now, nextTurn }: CreateManyDeps,
): Promise<NewDocument[]> {
  const documents: NewDocument[] = []
  for (const text of texts) {
    try {
      const parsing = parseInTurns(text, nextTurn)
      const { value, printed } = parsing instanceof Promise ? await parsing : parsing
      documents.push(toDocument(value, undefined, now, printed))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      throw failureAt(jsonPointer([from + documents.length]), error)
    }
  }
  return documents
}

/** Yields the documents of an array in parts, each validated after it is read. */
async function* validateParts(
  deps: CreateManyDeps,
  where: CollectionRef,
  first: NewDocument[],
  rest: AsyncIterator<readonly string[]> | Iterator<readonly string[]>,
): AsyncGenerator<readonly NewDocument[]> {
  let from = 0
  for (let batch = first.splice(0); ; ) {
    if (batch.length > 0) await deps.check(where, batch, from)
    from += batch.length
    if (batch.length > 0) yield batch
    const { done, value } = await rest.next()
    if (done) return
    await deps.nextTurn()
    batch = await parseElements(value, from, deps)
  }
}

async function storeSmall(
  { repository, check }: CreateManyDeps,
  where: CollectionRef,
  documents: readonly NewDocument[],
): Promise<CreatedMany> {
  await check(where, documents, 0)
  const ids = documents.map(({ id }) => id)
  requireDistinct(documents)
  const result = await repository
    .insert(where, documents)
    .catch(withDocumentIds(documents))
    .catch((error: unknown) => {
      if (!(error instanceof NotUnique)) throw error
      throw failureAt(jsonPointer([ids.indexOf(error.id)]), error)
    })
  if ('exists' in result) {
    throw failureAt(jsonPointer([ids.indexOf(result.exists)]), existsFailure(result.exists))
  }
  return inMemory(
    documents.map((each, at) => {
      const tag = result.tags[at]
      invariant(tag, 'a stored document has a tag')
      return { ...each, tag }
    }),
  )
}

function inMemory(documents: readonly StoredDocument[]): CreatedMany {
  const bodies = documents.map(({ body }) => body)
  const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
  return { documents, bytes, bodies, release() {} }
}

/** @throws Failure `conflict` at the first id that repeats an earlier one. */
function requireDistinct(documents: readonly NewDocument[]): void {
  const seen = new Set<string>()
  for (const [at, { id }] of documents.entries()) {
    if (seen.has(id)) {
      throw new Failure('conflict', `The id ${quoteId(id)} occurs twice.`, {
        field: jsonPointer([at, 'id']),
      })
    }
    seen.add(id)
  }
}

/**
 * Returns an error handler that adds the documents' ids to an {@link OutcomeUnknown}, so that the
 * client can look them up.
 */
export const withDocumentIds = (documents: readonly NewDocument[]) => (error: unknown) => {
  if (!(error instanceof OutcomeUnknown)) throw error
  throw new OutcomeUnknown({ cause: error.cause, ids: documents.map(({ id }) => id) })
}

/** Returns the failure for an id that exists. */
export const existsFailure = (id: string) =>
  new Failure('conflict', `A document with the id ${quoteId(id)} already exists.`, { field: '/id' })
