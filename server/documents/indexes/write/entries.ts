import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql, type Transaction } from 'kysely'
import { DOCUMENT_BYTES } from '../../../contract/document.ts'
import type { Json } from '../../../contract/json/json.ts'
import { jsonPointer } from '../../../contract/json/json-pointer.ts'
import { printJson } from '../../../contract/json/strict-json.ts'
import { DocumentConflict, Failure } from '../../../failure.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { EngineName } from '../../../storage/engine.ts'
import type { Tables } from '../../../storage/tables.ts'
import { parseFields } from '../../json/parse-fields.ts'
import { LARGE_LENGTH } from '../../json/parse-in-turns.ts'
import type { SortValue } from '../../query/order.ts'
import { type IndexDefinition, toDefinition } from '../definition.ts'
import { keyOfValues, valuesOf } from '../index-key.ts'
import { addDuplicates } from './duplicates.ts'
import {
  addEntries,
  type Duplicate,
  type Entry,
  type EntryKey,
  findDuplicate,
  removeEntries,
} from './write-entries.ts'

/** A document as JSON. */
export interface Indexed {
  readonly id: string
  readonly body: string
}

/** A document has the same values in a unique index as another one. */
export class NotUnique extends DocumentConflict {
  constructor({ index, first, second }: Duplicate) {
    const id = JSON.stringify(first.slice(0, 64))
    super(
      second,
      `The index ${index.name} is unique, and the document ${id} has the same values.`,
      {
        field: jsonPointer(index.fields[0]?.path ?? []),
        index: index.name,
        document: first,
      },
    )
  }
}

/**
 * Maximum length of the values of a document in all unique indexes together, as JSON, in characters.
 * They are hashed at once. The values in one index cannot exceed it.
 */
const UNIQUE_LENGTH = DOCUMENT_BYTES

/** The values of a document in unique indexes exceed {@link UNIQUE_LENGTH}. */
export class UniqueValuesTooLarge extends Failure {
  constructor({ fields }: IndexDefinition) {
    super(
      'invalid',
      'The values of this document in all unique indexes have more than 1 MiB together.',
      { field: jsonPointer(fields[0]?.path ?? []) },
    )
  }
}

/** The indexes of a collection, in a transaction that writes its documents. */
export interface CollectionIndexes {
  /** In the order of their ids. */
  readonly definitions: readonly IndexDefinition[]
  /** Whether one of them is unique. */
  readonly hasUnique: boolean
  /** Adds documents. @throws NotUnique, UniqueValuesTooLarge */
  add(documents: readonly Indexed[]): Promise<void>
  /** Adds documents that are committed already. A unique index that they violate fails. */
  addCommitted(documents: readonly Indexed[]): Promise<void>
  /**
   * Checks that no document excludes this one, before its earlier state is removed. {@link add}
   * would wait for a transaction that removes the other document; two replacements that swap their
   * values would wait for each other.
   *
   * @throws NotUnique, UniqueValuesTooLarge
   */
  requireUnique(document: Indexed): Promise<void>
  /** Removes documents in the state in which they were added. */
  remove(documents: readonly Indexed[]): Promise<void>
}

/**
 * Announces to builds of indexes that a transaction writes documents. Call it before
 * {@link openIndexes} if the transaction has not written any yet: a build that begins waits for
 * these transactions, since they do not see its index. SQLite runs one write transaction at a time.
 */
export async function lockDocuments(trx: Kysely<Tables>, engine: EngineName): Promise<void> {
  if (engine === 'postgres') await sql`lock table documents in row exclusive mode`.execute(trx)
}

/**
 * A condition that writers maintain an index. The second part is implied by the first; with it,
 * SQLite uses the partial index on the names of the indexes of a collection.
 */
export const isMaintained = sql<boolean>`state in ('building', 'ready') and state <> 'dropped'`

/** Returns the indexes of a collection that its writers maintain; undefined if there are none. */
export async function openIndexes(
  trx: Transaction<Tables>,
  engine: EngineName,
  where: CollectionRef,
): Promise<CollectionIndexes | undefined> {
  const rows = await trx
    .selectFrom('document_indexes')
    .select(['id', 'name', 'fields', 'is_unique', 'state'])
    .where('database', '=', where.database)
    .where('collection', '=', where.collection)
    .where(isMaintained)
    .orderBy('id')
    .execute()
  if (rows.length === 0) return undefined
  const indexes = rows.map(toDefinition)
  return {
    definitions: indexes,
    hasUnique: indexes.some(({ isUnique }) => isUnique),
    async add(documents) {
      const [duplicate] = await addToIndexes(trx, engine, where, indexes, documents)
      if (duplicate !== undefined) throw new NotUnique(duplicate)
    },
    async addCommitted(documents) {
      await failDuplicates(
        trx,
        await addToIndexes(trx, engine, where, indexes, documents, Infinity),
      )
    },
    async requireUnique(document) {
      if (!indexes.some(({ isUnique }) => isUnique)) return
      const entries = await entriesInTurns([document], (each) => entriesOf(indexes, each))
      const duplicate = await findDuplicate(trx, engine, entries)
      if (duplicate !== undefined) throw new NotUnique(duplicate)
    },
    async remove(documents) {
      const entries = await entriesInTurns(documents, (document) => entryKeysOf(indexes, document))
      await removeEntries(trx, engine, entries)
    },
  }
}

/** Number of entries that are computed before other requests run, a few milliseconds of work. */
const ENTRIES_PER_TURN = 500

/** Returns the entries of documents. Each entry of a large document takes a turn of its own. */
async function entriesInTurns<T>(
  documents: readonly Indexed[],
  entriesOfDocument: (document: Indexed) => Iterable<T>,
): Promise<T[]> {
  const entries: T[] = []
  let since = 0
  for (const document of documents) {
    const isLarge = document.body.length > LARGE_LENGTH
    if (isLarge || entries.length - since >= ENTRIES_PER_TURN) {
      since = entries.length
      await nextTurn()
    }
    for (const entry of entriesOfDocument(document)) {
      entries.push(entry)
      if (isLarge) await nextTurn()
    }
  }
  return entries
}

/**
 * Adds documents to indexes; returns the duplicates that unique indexes exclude.
 *
 * @param uniqueLength maximum length of the values of a document in unique indexes; Infinity for
 * documents that are committed already.
 * @throws UniqueValuesTooLarge
 */
export async function addToIndexes(
  trx: Transaction<Tables>,
  engine: EngineName,
  where: CollectionRef,
  indexes: readonly IndexDefinition[],
  documents: readonly Indexed[],
  uniqueLength?: number,
): Promise<Duplicate[]> {
  const entries = await entriesInTurns(documents, (each) => entriesOf(indexes, each, uniqueLength))
  return addEntries(trx, engine, where, entries)
}

/** Ends unique indexes that found duplicates. */
async function failDuplicates(
  trx: Transaction<Tables>,
  duplicates: readonly Duplicate[],
): Promise<void> {
  for (const [index, found] of Map.groupBy(duplicates, (duplicate) => duplicate.index)) {
    await trx
      .updateTable('document_indexes')
      .set({ state: 'failed', duplicates: addDuplicates({ duplicates: null }, found) })
      .where('id', '=', index.id)
      .where('state', 'in', ['building', 'ready'])
      .execute()
  }
}

/**
 * Yields the entries of a document, one for each index. The first one parses the document.
 *
 * @param uniqueLength maximum length of its values in unique indexes.
 * @throws UniqueValuesTooLarge
 */
export function* entriesOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
  uniqueLength = UNIQUE_LENGTH,
): Generator<Entry, void, void> {
  const document = parseIndexed(body, indexes)
  let length = 0
  for (const index of indexes) {
    const values = valuesOf(document, index.fields)
    const isExempt = !index.isUnique || values.includes(undefined)
    const print = (value: SortValue) => {
      const text = printJson(value as Json)
      length += text.length
      if (length > uniqueLength) throw new UniqueValuesTooLarge(index)
      return text
    }
    yield {
      index,
      key: keyOfValues(values, index.fields).bytes,
      id,
      // Keys of long strings, arrays and objects do not identify the values.
      uniqueKey: isExempt
        ? null
        : createHash('sha256')
            .update(`[${values.map(print).join()}]`)
            .digest(),
    }
  }
}

/** Yields the identities of the entries of a document, one for each index. */
export function* entryKeysOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
): Generator<EntryKey, void, void> {
  const document = parseIndexed(body, indexes)
  for (const index of indexes) {
    const key = keyOfValues(valuesOf(document, index.fields), index.fields).bytes
    yield { index, key, id }
  }
}

/** Parses the fields of a document that indexes have. */
const parseIndexed = (body: string, indexes: readonly IndexDefinition[]): Json =>
  parseFields(
    body,
    new Set(indexes.flatMap(({ fields }) => fields.map(({ path: [name = ''] }) => name))),
  )
