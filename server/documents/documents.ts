import { nextTurn } from '../concurrency/turns.ts'
import { type Conditions, matches, matchesNone } from '../contract/conditions.ts'
import type { OnConflict } from '../contract/import.ts'
import { invariant } from '../contract/invariant.ts'
import { parseAndPrint, parseStrictly } from '../contract/json/strict-json.ts'
import { Failure } from '../failure.ts'
import type { CollectionRef, DocumentRef } from '../storage/document-ref.ts'
import type { OnDamaged } from './damage-log.ts'
import {
  existsFailure,
  isLarge,
  type NewDocument,
  patchDocument,
  quoteId,
  requireDocumentId,
  toDocument,
  withDocumentIds,
} from './document.ts'
import { DocumentLocks } from './document-locks.ts'
import { createFindPage, type FindBounds } from './find/find-page.ts'
import { createReadInIdOrder, type ReadInIdOrder } from './find/read-in-id-order.ts'
import type { Page } from './find/read-page.ts'
import type { ScanLimit } from './find/scan-limit.ts'
import { type CreatedMany, type CreateManyOptions, createMany } from './import/create-many.ts'
import { createReadyIndexes } from './indexes/ready-indexes.ts'
import type { Cursors } from './query/cursor.ts'
import type { Position } from './query/order.ts'
import type { DocumentQuery } from './query/query.ts'
import type { DocumentRepository, StoredDocument } from './repository/stored-documents.ts'
import type { CheckDocuments, CurrentSchema } from './schemas/schemas.ts'

/** Options of {@link Documents.find}. */
export interface FindOptions extends FindBounds {
  /** Whether to count all documents that match. */
  readonly count: boolean
}

/** A page that a query found. */
export interface FoundPage extends Page {
  /** The parameter that leads to the next page; undefined on the last page. */
  readonly nextParameter: readonly [name: 'after' | 'cursor', value: string] | undefined
  /** Number of documents that were left out, because their stored text is not JSON. */
  readonly skipped: number
}

/** Reads for the change of a document, which began before the caller was known. */
export interface ChangeAhead {
  readonly stored: Promise<StoredDocument | undefined>
  readonly schema: Promise<CurrentSchema>
}

/** Options of the change of a document. */
export interface ChangeOptions {
  readonly ahead?: ChangeAhead | undefined
  /**
   * Returns the signal that is aborted when the client disconnects. Called if the change has to wait
   * for another one.
   */
  readonly signal?: () => AbortSignal
}

/** Documents (docs/http-api.md, "Documents"). Unmet conditions fail with 412. */
export interface Documents {
  /** Clears the cache of indexes. Call it after another process has changed the database. */
  clearCache(): void
  /**
   * Returns the names of a database's collections that hold documents, in order. `database` is an
   * id.
   */
  collections(database: string): Promise<string[]>
  /**
   * Returns a document; a promise only if the store is asynchronous.
   *
   * @throws Failure `not-found`, `precondition-failed`
   */
  read(ref: DocumentRef, conditions: Conditions): StoredDocument | Promise<StoredDocument>
  /** Returns the stored document, for {@link ChangeAhead}. */
  stored(ref: DocumentRef): Promise<StoredDocument | undefined>
  /**
   * Returns the page for the query of a URL, or a promise of it.
   *
   * @throws Failure `bad-parameter`, `busy`, `query-too-expensive`
   */
  find(
    where: CollectionRef,
    query: DocumentQuery,
    options: FindOptions,
  ): FoundPage | Promise<FoundPage>
  /** Returns documents that match, in id order after an id. */
  readonly readInIdOrder: ReadInIdOrder
  /**
   * Creates one document.
   *
   * @param schema the schema of the collection, if its reading has begun.
   * @throws Failure `bad-json`, `invalid`, `conflict`, `too-large`
   */
  create(
    where: CollectionRef,
    text: string,
    schema?: Promise<CurrentSchema>,
  ): Promise<StoredDocument>
  /**
   * Creates a document with the id of the reference.
   *
   * @throws Failure as {@link create}; `precondition-failed` if the document exists
   */
  createAt(ref: DocumentRef, text: string, schema?: Promise<CurrentSchema>): Promise<StoredDocument>
  /** Stores the documents of an array; see `create-many.ts`. */
  createMany(
    where: CollectionRef,
    parts: AsyncIterable<readonly string[]>,
    options: CreateManyOptions,
  ): Promise<CreatedMany | { readonly job: string }>
  /**
   * Creates one document, or replaces or skips it if it exists. Returns the stored one.
   *
   * @throws Failure as {@link create}
   */
  upsert(
    where: CollectionRef,
    text: string,
    onConflict: Exclude<OnConflict, 'fail'>,
    options?: Pick<ChangeOptions, 'signal'> & {
      readonly schema?: Promise<CurrentSchema> | undefined
    },
  ): Promise<{ readonly isNew: boolean; readonly document: StoredDocument }>
  /** @throws Failure `not-found`, `bad-json`, `invalid`, `precondition-failed`, `too-large` */
  replace(
    ref: DocumentRef,
    text: string,
    conditions: Conditions,
    options?: ChangeOptions,
  ): Promise<StoredDocument>
  /** Applies a merge patch (RFC 7396). @throws Failure as {@link replace} */
  patch(
    ref: DocumentRef,
    text: string,
    conditions: Conditions,
    options?: ChangeOptions,
  ): Promise<StoredDocument>
  /** Returns the deleted document. @throws Failure `not-found`, `precondition-failed` */
  delete(
    ref: DocumentRef,
    conditions: Conditions,
    ahead?: Pick<ChangeAhead, 'stored'>,
  ): Promise<StoredDocument>
}

export interface DocumentsDeps {
  readonly repository: DocumentRepository
  /** Returns ms since 1970. */
  readonly now: () => number
  /** Validates documents before they are stored. */
  readonly check: CheckDocuments
  /** Signs the positions of pages. */
  readonly cursors: Cursors
  /** Limits the queries of the node that no index serves. */
  readonly scans: ScanLimit
  readonly onDamaged?: OnDamaged
}

/** Returns the {@link Documents} of a repository. */
export function createDocuments({
  repository,
  now,
  check,
  cursors,
  scans,
  onDamaged,
}: DocumentsDeps): Documents {
  const readyIndexes = createReadyIndexes(repository.indexes)
  const locks = new DocumentLocks()

  /** Parses a request body as a document. */
  async function parse(text: string, id?: string): Promise<NewDocument> {
    if (isLarge(text)) await nextTurn()
    const { value, printed } = parseAndPrint(text)
    return toDocument(value, id, now, printed)
  }

  /**
   * Returns the document if it exists and meets the conditions.
   *
   * @throws Failure `not-found`, `precondition-failed`
   */
  function requireMatch(
    found: StoredDocument | undefined,
    ref: DocumentRef,
    conditions: Conditions,
  ): StoredDocument {
    if (found === undefined) {
      if (conditions.match !== undefined) throw preconditionFailed()
      throw notFound(ref)
    }
    if (!matches(conditions, found.tag)) throw preconditionFailed()
    return found
  }

  /** Validates a document; returns undefined if there is nothing to wait for. */
  const validate = (
    where: CollectionRef,
    document: NewDocument,
    schema?: Promise<CurrentSchema>,
  ) =>
    schema === undefined
      ? check(where, [document])
      : schema.then((current) => current.validate?.([document]))

  /**
   * Updates a document, and retries if it has changed since it was read, for example on another
   * node. Checks in this order: existence (404), validity (422), the requested state (412).
   *
   * @param next returns the new document. It receives undefined if the document does not exist and
   * the request has `If-Match`.
   */
  const change = (
    ref: DocumentRef,
    conditions: Conditions,
    next: (found: StoredDocument | undefined) => NewDocument | Promise<NewDocument>,
    { ahead, signal = forever }: ChangeOptions = {},
  ): Promise<StoredDocument> =>
    locks.run(ref, signal, async (hasWaited) => {
      for (let begun = hasWaited ? undefined : ahead; ; begun = undefined) {
        const found = await (begun?.stored ?? repository.read(ref))
        if (found === undefined && conditions.match === undefined) throw notFound(ref)
        const document = await next(found)
        const checking = validate(ref, document, begun?.schema)
        if (checking !== undefined) await checking
        if (found === undefined) throw preconditionFailed()
        if (!matches(conditions, found.tag) || !matchesNone(conditions, found.tag))
          throw preconditionFailed()
        const { body } = document
        const tag = await repository.update(ref, found, body)
        if (tag !== undefined) return { id: ref.id, tag, body }
      }
    })

  /** Stores a new document; returns undefined if one with its id exists. */
  async function insert(
    where: CollectionRef,
    document: NewDocument,
    schema?: Promise<CurrentSchema>,
  ): Promise<StoredDocument | undefined> {
    const checking = validate(where, document, schema)
    if (checking !== undefined) await checking
    const result = await repository.insert(where, [document]).catch(withDocumentIds([document]))
    if ('exists' in result) return undefined
    const [tag] = result.tags
    invariant(tag, 'a stored document has a tag')
    return { ...document, tag }
  }

  const findPage = createFindPage({ repository, readyIndexes, scans })

  return {
    clearCache() {
      readyIndexes.clear()
      repository.clearCache()
    },
    collections: (database) => repository.collections(database),
    read(ref, conditions) {
      const reading = repository.read(ref)
      return reading instanceof Promise
        ? reading.then((found) => requireMatch(found, ref, conditions))
        : requireMatch(reading, ref, conditions)
    },
    stored: async (ref) => repository.read(ref),
    readInIdOrder: createReadInIdOrder({ repository, scans }),
    find(where, query, options) {
      const { conditions, matches, sort, fields, reads, limit, after, cursor } = query
      const sorted = { where, conditions, sort }
      const idPosition = after === undefined ? undefined : { values: [], id: after }
      const from = cursor === undefined ? idPosition : cursors.parse(sorted, cursor)
      const { count } = options
      const damaged = new Set<string>()
      const bounds = {
        ...{ conditions, matches, sort, fields, reads, limit, from, count },
        onDamaged(id: string) {
          damaged.add(id)
          onDamaged?.(where, id)
        },
      }
      const finding = findPage(where, bounds, options)
      return finding instanceof Promise ? finding.then(foundPage) : foundPage(finding)

      function foundPage(page: Page): FoundPage {
        return { ...page, nextParameter: parameterOf(page.next), skipped: damaged.size }
      }
      function parameterOf(next: Position | undefined): FoundPage['nextParameter'] {
        if (next === undefined) return undefined
        return sort.length === 0 ? ['after', next.id] : ['cursor', cursors.print(sorted, next)]
      }
    },
    async create(where, text, schema) {
      const document = await parse(text)
      const created = await insert(where, document, schema)
      if (created === undefined) throw existsFailure(document.id)
      return created
    },
    async createAt(ref, text, schema) {
      requireDocumentId(ref.id)
      const created = await insert(ref, await parse(text, ref.id), schema)
      if (created === undefined) throw preconditionFailed()
      return created
    },
    createMany: (...parameters) => createMany({ repository, now, check }, ...parameters),
    async upsert(where, text, onConflict, { schema, ...options } = {}) {
      const document = await parse(text)
      const ref = { ...where, id: document.id }
      for (;;) {
        const created = await insert(where, document, schema)
        if (created !== undefined) return { isNew: true, document: created }
        const stored = await (onConflict === 'skip'
          ? repository.read(ref)
          : change(ref, UNCONDITIONAL, () => document, options).catch(undefinedIfAbsent))
        // Otherwise, the document was deleted since the insertion.
        if (stored !== undefined) return { isNew: false, document: stored }
      }
    },
    async replace(ref, text, conditions, options) {
      const document = await parse(text, ref.id)
      return change(ref, conditions, () => document, options)
    },
    async patch(ref, text, conditions, options) {
      if (isLarge(text)) await nextTurn()
      const patch = parseStrictly(text)
      const next = async (found: StoredDocument | undefined) => {
        // The result of the patch is unknown, so it cannot be validated.
        if (found === undefined) throw preconditionFailed()
        if (isLarge(found.body) || isLarge(text)) await nextTurn()
        return patchDocument(found, patch, now)
      }
      return change(ref, conditions, next, options)
    },
    async delete(ref, conditions, ahead) {
      for (let begun = ahead; ; begun = undefined) {
        const stored = await (begun?.stored ?? repository.read(ref))
        const found = requireMatch(stored, ref, conditions)
        if (!matchesNone(conditions, found.tag)) throw preconditionFailed()
        if (await repository.delete(ref, found)) return found
      }
    },
  }
}

/** The signal of a client that does not disconnect. */
const forever = () => new AbortController().signal

const notFound = ({ collection, id }: DocumentRef) =>
  new Failure('not-found', `There is no document ${quoteId(id)} in ${collection}.`)

const UNCONDITIONAL: Conditions = { match: undefined, noneMatch: undefined }

function undefinedIfAbsent(error: unknown): undefined {
  if (!(error instanceof Failure) || error.code !== 'not-found') throw error
}

const preconditionFailed = () =>
  new Failure(
    'precondition-failed',
    'The document has changed, or does not match the precondition of the request.',
  )
