import { nextTurn } from '../../concurrency/turns.ts'
import { CHANGE_BYTES, CHANGE_ROWS } from '../../contract/document.ts'
import type { OnConflict } from '../../contract/import.ts'
import { jsonPointer } from '../../contract/json/json.ts'
import { parseAndPrint } from '../../contract/json/strict-json.ts'
import { Failure, failureAt } from '../../failure.ts'
import { type CollectionRef, TooManyRows } from '../../storage/document-ref.ts'
import {
  createEntityTag,
  existsFailure,
  isLarge,
  type NewDocument,
  quoteId,
  toDocument,
  withDocumentIds,
} from '../document.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { WriteResult } from '../repository/writes/write-documents.ts'
import type { CheckDocuments } from '../schemas/schemas.ts'
import { type StoredPart, storedParts } from './stored-part.ts'

/** The stored documents of an array, in the order of the request. */
export interface CreatedMany {
  /** Whether any of them existed before. */
  readonly existed: boolean
  /** Undefined if any was skipped: the stored ones are read while they are sent. */
  readonly tags?: readonly string[]
  readonly bodies: readonly string[] | AsyncIterable<string>
}

export interface CreateManyOptions {
  readonly onConflict: OnConflict
  /** Whether the caller requests a job. */
  readonly respondAsync: boolean
  /** Starts an import of the array as a job, and returns its id. */
  readonly beginImport: (parts: AsyncIterable<StoredPart>) => Promise<{ readonly id: string }>
}

export interface CreateManyDeps {
  readonly repository: Pick<DocumentRepository, 'write' | 'read'>
  readonly now: () => number
  readonly check: CheckDocuments
}

/**
 * Stores the documents of an array. An array of at most {@link CHANGE_ROWS} rows and
 * {@link CHANGE_BYTES} is stored as a whole or not at all. A job imports a larger one.
 *
 * @param parts the elements as JSON (`creation-routes.ts`). Closed if they are not read to their end.
 * @throws Failure `bad-json`, `invalid`, `conflict`, `too-large`, `too-many-requests`
 */
export async function createMany(
  deps: CreateManyDeps,
  where: CollectionRef,
  parts: AsyncIterable<readonly string[]>,
  { onConflict, respondAsync, beginImport }: CreateManyOptions,
): Promise<CreatedMany | { readonly job: string }> {
  const rest = parts[Symbol.asyncIterator]()
  const read: (readonly string[])[] = []
  let [count, bytes] = [0, 0]
  try {
    while (!respondAsync && count <= CHANGE_ROWS && bytes <= CHANGE_BYTES) {
      const { done, value } = await rest.next()
      if (done) {
        const stored = await storeAll(deps, where, read, onConflict)
        if (stored !== undefined) return stored
        break
      }
      read.push(value)
      count += value.length
      for (const text of value) bytes += Buffer.byteLength(text)
    }
    const { id } = await beginImport(storedParts(numbered(read, rest)))
    return { job: id }
  } catch (error) {
    await rest.return?.()
    throw error
  }
}

/** Yields the elements of an array as records of an import, whose lines are their positions. */
async function* numbered(first: (readonly string[])[], rest: AsyncIterator<readonly string[]>) {
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

/** Stores the documents in one transaction; returns undefined if they have too many rows. */
async function storeAll(
  deps: CreateManyDeps,
  where: CollectionRef,
  parts: readonly (readonly string[])[],
  onConflict: OnConflict,
): Promise<CreatedMany | undefined> {
  const documents: NewDocument[] = []
  for (const part of parts) {
    if (documents.length > 0 || part.some(isLarge)) await nextTurn()
    const parsed = parseElements(part, documents.length, deps.now)
    await deps.check(where, parsed, documents.length)
    documents.push(...parsed)
  }
  requireDistinct(documents)
  const rows = documents.map((each) => ({ ...each, tag: createEntityTag() }))
  const results = await deps.repository
    .write(where, rows, {
      replaces: onConflict === 'replace',
      all: true,
      ...(onConflict === 'fail' && {
        commit: async (_, written) => requireNew(documents, written),
      }),
    })
    .catch(withDocumentIds(documents))
    .catch((error: unknown) => {
      if (!(error instanceof TooManyRows)) throw error
    })
  if (results === undefined) return undefined
  const existed = results.some((result) => result !== 'created')
  if (!results.includes('exists')) {
    return { existed, tags: rows.map(({ tag }) => tag), bodies: rows.map(({ body }) => body) }
  }
  async function* bodies() {
    for (const [at, { id, body }] of rows.entries()) {
      if (results?.[at] !== 'exists') yield body
      // If the document has been deleted since, only its id is known.
      else yield (await deps.repository.read({ ...where, id }))?.body ?? JSON.stringify({ id })
    }
  }
  return { existed, bodies: bodies() }
}

/** @throws Failure `conflict` at the first document whose id exists. */
function requireNew(documents: readonly NewDocument[], written: readonly WriteResult[]): void {
  const at = written.indexOf('exists')
  const existing = documents[at]
  if (existing !== undefined) throw failureAt(jsonPointer([at]), existsFailure(existing.id))
}

/** Parses elements of an array. `from` is the index of the first one. */
function parseElements(texts: readonly string[], from: number, now: () => number): NewDocument[] {
  const documents: NewDocument[] = []
  for (const text of texts) {
    try {
      const { value, printed } = parseAndPrint(text)
      documents.push(toDocument(value, undefined, now, printed))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      throw failureAt(jsonPointer([from + documents.length]), error)
    }
  }
  return documents
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
