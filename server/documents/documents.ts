import { DOCUMENT_BYTES, ID_LENGTH, PAGE, PAGE_BYTES } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import { createTurns } from '../storage/turns.ts'
import { type CreatedMany, createMany, exists, type LargeArrays, naming } from './create-many.ts'
import { createDocumentId } from './document-id.ts'
import { type Conditions, matches, matchesNone } from './entity-tag.ts'
import { JsonArray, type JsonText } from './json-array.ts'
import { mergePatch } from './merge-patch.ts'
import type { DocumentRepository, Place, StoredDocument } from './repository.ts'
import type { CheckDocuments } from './schemas.ts'
import { type Json, parseStrictly, printJson } from './strict-json.ts'

/** A collection: the id of its database, and its name. */
export type Collection = Pick<Place, 'database' | 'collection'>

/** A page of a collection. */
export interface Page {
  readonly documents: readonly Pick<StoredDocument, 'id' | 'tag'>[]
  /** The documents as a JSON array. */
  readonly json: JsonText
  /** The id after which the next page begins; undefined: this is the last one. */
  readonly next: string | undefined
}

/** What is asked of a collection: fields with the values that they must have. */
export type Filter = readonly (readonly [field: string, value: string])[]

/** Bounds of one scan of a collection. */
export interface ScanBounds {
  /**
   * The most batches that are read ({@link PAGE}.most documents or {@link BATCH_BYTES} each). By
   * default the scan ends when the page is full or the collection ends.
   */
  readonly batches?: number
  /** The last id that is read. */
  readonly upTo?: string
  /** Awaited before a batch is read, with the bytes that the page may have then. */
  readonly reserve?: (bytes: number) => Promise<void>
}

/** Documents by the conventions of seed 002. Conditions that do not hold fail with 412. */
export interface Documents {
  /** The names of the collections of a database, by its id, that hold documents, in order. */
  collections(database: string): Promise<string[]>
  /** @throws Failure `not-found`, `precondition-failed` */
  read(place: Place, conditions: Conditions): Promise<StoredDocument>
  /** What {@link read} would answer, where the store answers at once; undefined: ask it. */
  recall(place: Place, conditions: Conditions): StoredDocument | undefined
  /**
   * Some documents in id order, after one: fewer than `limit` where they would take too many bytes.
   * A page whose scan ended early may hold few documents or none, and yet has a `next`.
   */
  page(
    where: Collection,
    filter: Filter,
    after: string | undefined,
    limit: number,
    bounds?: ScanBounds,
  ): Promise<Page>
  /** Creates one document. @throws Failure `bad-json`, `invalid`, `conflict`, `too-large` */
  create(where: Collection, text: string): Promise<StoredDocument>
  /** Creates the documents of an array, all or none: see `create-many.ts`. */
  createMany(
    where: Collection,
    parts: AsyncIterable<readonly string[]>,
    later: boolean,
  ): Promise<CreatedMany | { readonly job: string }>
  /** @throws Failure `not-found`, `bad-json`, `invalid`, `precondition-failed`, `too-large` */
  replace(place: Place, text: string, conditions: Conditions): Promise<StoredDocument>
  /** Merges (RFC 7396). @throws Failure as {@link replace} */
  patch(place: Place, text: string, conditions: Conditions): Promise<StoredDocument>
  /** Answers what was deleted. @throws Failure `not-found`, `precondition-failed` */
  delete(place: Place, conditions: Conditions): Promise<StoredDocument>
}

/** Documents are read in batches of at most so many bytes: to parse 1 MiB takes some 5 ms. */
export const BATCH_BYTES = 1024 * 1024

/** A batch that is larger than this waits for a turn of its own. */
const SMALL_BYTES = 64 * 1024

/**
 * Makes {@link Documents}; `now` tells ms since 1970.
 *
 * @param check what is asked before documents are stored; by default they all may be.
 * @param large creates the documents of large arrays; by default there are none.
 */
export function createDocuments(
  repository: DocumentRepository,
  now: () => number,
  check: CheckDocuments = () => undefined,
  large: LargeArrays = { create: async () => Promise.reject(new Error('a large array')) },
): Documents {
  const nextTurn = createTurns()
  const required = async (place: Place, conditions: Conditions): Promise<StoredDocument> => {
    const found = await repository.read(place)
    if (found === undefined) {
      if (conditions.match !== undefined) throw movedOn()
      throw notFound(place)
    }
    if (!matches(conditions, found.tag)) throw movedOn()
    return found
  }

  /**
   * Changes a document from the state that was read to another, again where it has moved on. The order
   * of checks: whether there is one (404), whether it would be valid (422), whether it is in the state
   * that was asked for (412).
   *
   * @param next of undefined: the document is not there, and it was asked to be in some state.
   */
  async function change(
    place: Place,
    conditions: Conditions,
    next: (found: StoredDocument | undefined) => MadeDocument,
  ): Promise<StoredDocument> {
    for (;;) {
      const found = await repository.read(place)
      if (found === undefined && conditions.match === undefined) throw notFound(place)
      const made = next(found)
      const checking = check(place, [made], false)
      if (checking !== undefined) await checking
      if (found === undefined) throw movedOn()
      if (!matches(conditions, found.tag) || !matchesNone(conditions, found.tag)) throw movedOn()
      const { body } = made
      const tag = await repository.update(place, found.tag, body)
      if (tag !== undefined) return { id: place.id, tag, body }
    }
  }

  return {
    collections: (database) => repository.collections(database),
    read: required,
    recall(place, conditions) {
      const found = repository.recall(place)
      return found !== undefined && matches(conditions, found.tag) ? found : undefined
    },
    async page(where, filter, after, limit, { batches = Infinity, upTo, reserve } = {}) {
      const documents: Page['documents'][number][] = []
      const json = new JsonArray()
      let bytes = 0
      let from = after
      for (let batch = 1; ; batch++) {
        // One more than asked for tells of a next page; a filter may pass over many.
        const size = filter.length === 0 ? limit + 1 - documents.length : PAGE.most
        const { last, bytes: more } = await repository.until(where, from, size, BATCH_BYTES, upTo)
        await reserve?.(bytes + more)
        if (batch > 1 || more > SMALL_BYTES) await nextTurn()
        const rows = await repository.list(where, from, size, last ?? upTo)
        for (const { id, tag, body } of rows) {
          if (!fits({ body }, filter)) continue
          bytes += Buffer.byteLength(body)
          const isFull = documents.length === limit || (bytes > PAGE_BYTES && documents.length > 0)
          if (isFull) return { documents, json: json.print(), next: documents.at(-1)?.id }
          documents.push({ id, tag })
          json.add(body)
        }
        const isLast = last === undefined && rows.length < size
        from = rows.length < size ? last : rows.at(-1)?.id
        if (isLast || batch >= batches) {
          return { documents, json: json.print(), next: isLast ? undefined : from }
        }
        json.encode()
      }
    },
    async create(where, text) {
      const made = toDocument(parseStrictly(text), undefined, now)
      const checking = check(where, [made], false)
      if (checking !== undefined) await checking
      const { id, body } = made
      const result = await repository.insert(where, [made]).catch(naming([made]))
      if ('exists' in result) throw exists(id)
      return { id, body, tag: result.tags[0] ?? '' }
    },
    createMany: (where, parts, later) =>
      createMany({ repository, now, check, large, nextTurn }, where, parts, later),
    replace(place, text, conditions) {
      const made = toDocument(parseStrictly(text), place.id, now)
      return change(place, conditions, () => made)
    },
    patch(place, text, conditions) {
      const patch = parseStrictly(text)
      return change(place, conditions, (found) => {
        // What it would become cannot be told.
        if (found === undefined) throw movedOn()
        const merged = mergePatch(JSON.parse(found.body) as Json, patch)
        return toDocument(merged, place.id, now)
      })
    },
    async delete(place, conditions) {
      for (;;) {
        const found = await required(place, conditions)
        if (!matchesNone(conditions, found.tag)) throw movedOn()
        if (await repository.delete(place, found.tag)) return found
      }
    },
  }
}

/** A document to be stored: its id, and the JSON object that holds it. */
export interface MadeDocument {
  readonly id: string
  readonly body: string
}

/** A value as a document to be stored: with its id, which is made where none is given. */
export function toDocument(
  value: Json,
  known: string | undefined,
  now: () => number,
): MadeDocument {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Failure('invalid', 'A document is a JSON object.')
  }
  const given = Object.hasOwn(value, 'id') ? value.id : undefined
  if (given !== undefined && !isId(given)) {
    throw new Failure(
      'invalid',
      `An id is a text of 1 to ${ID_LENGTH} characters that an URL can hold.`,
    )
  }
  if (known !== undefined && given !== undefined && given !== known) {
    throw new Failure(
      'invalid',
      `The id in the document is not that of the path, ${quoted(known)}.`,
    )
  }
  const id = known ?? given ?? createDocumentId(now())
  const document = given === undefined ? { id, ...value } : value
  const body = printJson(document)
  if (Buffer.byteLength(body) > DOCUMENT_BYTES) throw tooLarge()
  return { id, body }
}

/** Whether a value can be the id of a document; one that no URL can hold is none. */
function isId(value: Json): value is string {
  // A character is at most two code units: what is longer need not be counted.
  if (typeof value !== 'string' || value === '' || value.length > 2 * ID_LENGTH) return false
  if (!value.isWellFormed()) return false
  // Encoded or not, a path of these leads elsewhere (RFC 3986 §5.2.4).
  if (value === '.' || value === '..') return false
  return !value.includes('\0') && [...value].length <= ID_LENGTH
}

/** Whether a document has the values that a filter asks for. */
export function fits({ body }: Pick<StoredDocument, 'body'>, filter: Filter): boolean {
  if (filter.length === 0) return true
  const value = JSON.parse(body) as { [key: string]: Json }
  return filter.every(([field, asked]) => {
    if (!Object.hasOwn(value, field)) return false
    const has = value[field] as Json
    return has === asked || (typeof has !== 'string' && printJson(has) === asked)
  })
}

/** Quotes the beginning of a text, for messages. */
export const quoted = (text: string) => JSON.stringify(text.slice(0, 64))

const notFound = ({ collection, id }: Place) =>
  new Failure('not-found', `There is no document ${quoted(id)} in ${collection}.`)

const movedOn = () =>
  new Failure('precondition-failed', 'The document is not in the state that the request asks for.')

const tooLarge = () => new Failure('too-large', 'A document takes 1 MiB at most.')
