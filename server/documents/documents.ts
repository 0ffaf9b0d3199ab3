import { randomBytes } from 'node:crypto'
import { invariant } from '../contract/invariant.ts'
import { Failure } from '../failure.ts'
import { createTurns } from '../storage/changes/turns.ts'
import type { CollectionRef, DocumentRef } from '../storage/document-ref.ts'
import { createVault, type Vault } from '../storage/vault.ts'
import { type MadeDocument, quoted, requireDocumentId, toDocument } from './document.ts'
import { type Conditions, matches, matchesNone } from './entity-tag.ts'
import { mergePatch } from './json/merge-patch.ts'
import { type Json, parseStrictly } from './json/strict-json.ts'
import { parseCursor, printCursor } from './query/cursor.ts'
import { createFindPage, type FindBounds } from './query/find-page.ts'
import type { Position } from './query/order.ts'
import type { DocumentQuery } from './query/query.ts'
import { createReadInIdOrder, type Page, type ReadInIdOrder } from './query/read-page.ts'
import { ScanLimit } from './query/scan-limit.ts'
import {
  type CreatedMany,
  createMany,
  exists,
  type LargeArrays,
  naming,
} from './repository/create-many.ts'
import type { DocumentRepository, StoredDocument } from './repository/stored-documents.ts'
import type { CheckDocuments } from './schemas/schemas.ts'

/** Options of {@link Documents.find}. */
export interface FindOptions extends FindBounds {
  /** Whether to count all documents that match. */
  readonly count: boolean
}

/** A page that a query found. */
export interface FoundPage extends Page {
  /** The parameter that leads to the next page; undefined on the last page. */
  readonly nextParameter: readonly [name: 'after' | 'cursor', value: string] | undefined
}

/** Documents (docs/http-api.md, "Documents"). Unmet conditions fail with 412. */
export interface Documents {
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
  /** Returns documents that match, in id order after an id, without the limits of {@link find}. */
  readonly page: ReadInIdOrder
  /** Creates one document. @throws Failure `bad-json`, `invalid`, `conflict`, `too-large` */
  create(where: CollectionRef, text: string): Promise<StoredDocument>
  /** Creates a document with a given id. @throws Failure as {@link create}; `precondition-failed` if it exists */
  createAt(ref: DocumentRef, text: string): Promise<StoredDocument>
  /** Creates the documents of an array, all or none; see `create-many.ts`. */
  createMany(
    where: CollectionRef,
    parts: AsyncIterable<readonly string[]>,
    later: boolean,
  ): Promise<CreatedMany | { readonly job: string }>
  /** @throws Failure `not-found`, `bad-json`, `invalid`, `precondition-failed`, `too-large` */
  replace(ref: DocumentRef, text: string, conditions: Conditions): Promise<StoredDocument>
  /** Applies a merge patch (RFC 7396). @throws Failure as {@link replace} */
  patch(ref: DocumentRef, text: string, conditions: Conditions): Promise<StoredDocument>
  /** Returns the deleted document. @throws Failure `not-found`, `precondition-failed` */
  delete(ref: DocumentRef, conditions: Conditions): Promise<StoredDocument>
}

/**
 * Returns the {@link Documents} of a repository.
 *
 * @param now returns ms since 1970.
 * @param check validates documents before they are stored; by default all are valid.
 * @param large creates the documents of large arrays; by default it fails.
 * @param vault encrypts cursors. Nodes that share a store have the same key.
 * @param scans limits the queries of the node that no index serves.
 */
export function createDocuments(
  repository: DocumentRepository,
  now: () => number,
  check: CheckDocuments = () => undefined,
  large: LargeArrays = { create: async () => Promise.reject(new Error('a large array')) },
  vault: Vault = createVault(randomBytes(32)),
  scans: ScanLimit = new ScanLimit(),
): Documents {
  const nextTurn = createTurns()
  /** Returns a document that was found, if it meets the conditions. */
  function required(
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

  /**
   * Updates a document, and retries if it has changed since it was read. Checks in this order:
   * existence (404), validity (422), the requested state (412).
   *
   * @param next returns the new document. It receives undefined if the document does not exist and
   * the request has `If-Match`.
   */
  async function change(
    ref: DocumentRef,
    conditions: Conditions,
    next: (found: StoredDocument | undefined) => MadeDocument,
  ): Promise<StoredDocument> {
    for (;;) {
      const found = await repository.read(ref)
      if (found === undefined && conditions.match === undefined) throw notFound(ref)
      const made = next(found)
      const checking = check(ref, [made], false)
      if (checking !== undefined) await checking
      if (found === undefined) throw preconditionFailed()
      if (!matches(conditions, found.tag) || !matchesNone(conditions, found.tag))
        throw preconditionFailed()
      const { body } = made
      const tag = await repository.update(ref, found.tag, body)
      if (tag !== undefined) return { id: ref.id, tag, body }
    }
  }

  /** Stores a new document; returns undefined if one with its id exists. */
  async function insert(
    where: CollectionRef,
    made: MadeDocument,
  ): Promise<StoredDocument | undefined> {
    const checking = check(where, [made], false)
    if (checking !== undefined) await checking
    const result = await repository.insert(where, [made]).catch(naming([made]))
    if ('exists' in result) return undefined
    const [tag] = result.tags
    invariant(tag, 'a stored document has a tag')
    return { ...made, tag }
  }

  const findPage = createFindPage({ repository, nextTurn, scans })

  return {
    collections: (database) => repository.collections(database),
    read(ref, conditions) {
      const reading = repository.read(ref)
      return reading instanceof Promise
        ? reading.then((found) => required(found, ref, conditions))
        : required(reading, ref, conditions)
    },
    page: createReadInIdOrder({ repository, nextTurn }),
    find(where, query, options) {
      const { filter, matches, sort, fields, limit, after, cursor } = query
      const scope = { where, filter, sort }
      const idPosition = after === undefined ? undefined : { values: [], id: after }
      const from = cursor === undefined ? idPosition : parseCursor(vault, scope, cursor)
      const { count } = options
      const asked = { matches, sort, fields, limit, from, count }
      const finding = findPage(where, asked, filter, options)
      return finding instanceof Promise ? finding.then(foundPage) : foundPage(finding)

      function foundPage(page: Page): FoundPage {
        return { ...page, nextParameter: parameterOf(page.next) }
      }
      function parameterOf(next: Position | undefined): FoundPage['nextParameter'] {
        if (next === undefined) return undefined
        return sort.length === 0 ? ['after', next.id] : ['cursor', printCursor(vault, scope, next)]
      }
    },
    async create(where, text) {
      const made = toDocument(parseStrictly(text), undefined, now)
      const created = await insert(where, made)
      if (created === undefined) throw exists(made.id)
      return created
    },
    async createAt(ref, text) {
      requireDocumentId(ref.id)
      const created = await insert(ref, toDocument(parseStrictly(text), ref.id, now))
      if (created === undefined) throw preconditionFailed()
      return created
    },
    createMany: (where, parts, later) =>
      createMany({ repository, now, check, large, nextTurn }, where, parts, later),
    replace(ref, text, conditions) {
      const made = toDocument(parseStrictly(text), ref.id, now)
      return change(ref, conditions, () => made)
    },
    patch(ref, text, conditions) {
      const patch = parseStrictly(text)
      return change(ref, conditions, (found) => {
        // The result of the patch is unknown, so it cannot be validated.
        if (found === undefined) throw preconditionFailed()
        const merged = mergePatch(JSON.parse(found.body) as Json, patch)
        return toDocument(merged, ref.id, now)
      })
    },
    async delete(ref, conditions) {
      for (;;) {
        const found = required(await repository.read(ref), ref, conditions)
        if (!matchesNone(conditions, found.tag)) throw preconditionFailed()
        if (await repository.delete(ref, found.tag)) return found
      }
    },
  }
}

const notFound = ({ collection, id }: DocumentRef) =>
  new Failure('not-found', `There is no document ${quoted(id)} in ${collection}.`)

const preconditionFailed = () =>
  new Failure(
    'precondition-failed',
    'The document has changed, or does not match the precondition of the request.',
  )
