import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { DOCUMENT_BYTES } from '../../contract/document.ts'
import { jsonPointer } from '../../contract/json-pointer.ts'
import { type Json, printJson } from '../../contract/strict-json.ts'
import { DocumentConflict, Failure } from '../../failure.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { EngineName } from '../../storage/engine.ts'
import type { Tables } from '../../storage/tables.ts'
import type { SortValue } from '../query/order.ts'
import { type IndexDefinition, toDefinition } from './definition.ts'
import { addDuplicates } from './duplicates.ts'
import { keyOfValues, valuesOf } from './index-key.ts'

/** A document as JSON. */
export interface Indexed {
  readonly id: string
  readonly body: string
}

/** What identifies an entry. */
export interface EntryKey {
  readonly index: IndexDefinition
  readonly key: Buffer
  readonly id: string
}

/** An entry to write. */
export interface Entry extends EntryKey {
  /** Hash of the values in a unique index; null if the document is exempt. */
  readonly uniqueKey: Buffer | null
}

/** Two documents with the same values in a unique index. */
export interface Duplicate {
  readonly index: IndexDefinition
  /** The document that is in the index. */
  readonly first: string
  readonly second: string
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
    async remove(documents) {
      const entries = await mapInTurns(documents, (document) => entryKeysOf(indexes, document))
      await removeEntries(trx, engine, entries)
    },
  }
}

/**
 * Maximum number of entries that a statement writes, and of the bytes of their keys: a few
 * milliseconds of work. Other requests run between two statements, and between the entries of this
 * many.
 */
const STATEMENT_LIMIT = { entries: 500, bytes: 128 * 1024 } as const

/** Returns the entries of documents. */
async function mapInTurns<T>(
  documents: readonly Indexed[],
  entriesOfDocument: (document: Indexed) => readonly T[],
): Promise<T[]> {
  const entries: T[] = []
  let since = 0
  for (const document of documents) {
    if (entries.length - since >= STATEMENT_LIMIT.entries) {
      since = entries.length
      await nextTurn()
    }
    entries.push(...entriesOfDocument(document))
  }
  return entries
}

/** Yields entries in groups that a statement may write, each in another turn of the event loop. */
async function* inStatements<T extends EntryKey>(entries: readonly T[]): AsyncGenerator<T[], void> {
  let group: T[] = []
  let bytes = 0
  for (const entry of entries) {
    const isFull =
      group.length >= STATEMENT_LIMIT.entries || bytes + entry.key.length > STATEMENT_LIMIT.bytes
    if (isFull && group.length > 0) {
      yield group
      await nextTurn()
      group = []
      bytes = 0
    }
    group.push(entry)
    bytes += entry.key.length
  }
  if (group.length > 0) yield group
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
  const entries = await mapInTurns(documents, (each) => entriesOf(indexes, each, uniqueLength))
  const duplicates: Duplicate[] = []
  for await (const group of inStatements(entries.toSorted(compareEntries))) {
    duplicates.push(...(await addEntries(trx, engine, where, group)))
  }
  return duplicates
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
 * Returns the entries of a document, one for each index.
 *
 * @param uniqueLength maximum length of its values in unique indexes.
 * @throws UniqueValuesTooLarge
 */
export function entriesOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
  uniqueLength = UNIQUE_LENGTH,
): Entry[] {
  const document = JSON.parse(body) as Json
  let length = 0
  return indexes.map((index) => {
    const values = valuesOf(document, index.fields)
    const isExempt = !index.isUnique || values.includes(undefined)
    const print = (value: SortValue) => {
      const text = printJson(value as Json)
      length += text.length
      if (length > uniqueLength) throw new UniqueValuesTooLarge(index)
      return text
    }
    return {
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
  })
}

/** Returns what identifies the entries of a document, one for each index. */
export function entryKeysOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
): EntryKey[] {
  const document = JSON.parse(body) as Json
  return indexes.map((index) => ({
    index,
    key: keyOfValues(valuesOf(document, index.fields), index.fields).bytes,
    id,
  }))
}

/**
 * Adds entries that do not exist yet, except for duplicates in unique indexes, which it returns. The
 * documents are stored before, because entries contain their locations.
 *
 * @param sorted entries in the order of {@link compareEntries}, so that concurrent transactions wait
 * for each other in the same order.
 */
async function addEntries(
  trx: Transaction<Tables>,
  engine: EngineName,
  { database, collection }: CollectionRef,
  sorted: readonly Entry[],
): Promise<Duplicate[]> {
  const duplicates: Duplicate[] = []
  const [ctid, location] =
    engine === 'sqlite'
      ? [sql``, sql``]
      : [
          sql`, document_ctid`,
          sql`, (select ctid from documents where documents.database = ${database}
            and documents.collection = ${collection} and documents.id = entry.id)`,
        ]
  let missing = sorted
  while (missing.length > 0) {
    const rows = rowsOf(engine, missing)
    const { numAffectedRows = 0n } = await sql`
      insert into index_entries (index_id, key, id, sole${ctid})
      select entry.index_id, entry.key, entry.id, entry.unique_key${location} from ${rows}
      where true order by entry.at on conflict do nothing`.execute(trx)
    if (Number(numAffectedRows) === missing.length) break
    const { rows: skipped } = await sql<{ at: number; conflicting: string | null }>`
      select at, conflicting from (
        select entry.at, (
          select other.id from index_entries as other
          where other.index_id = entry.index_id and other.sole = entry.unique_key
            and other.id <> entry.id
        ) as conflicting, (
          select 1 from index_entries as own
          where own.index_id = entry.index_id and own.key = entry.key and own.id = entry.id
        ) as own
        from ${rows}
      ) as states where own is null order by at`.execute(trx)
    const tried = missing
    const again: Entry[] = []
    missing = again
    for (const { at, conflicting } of skipped) {
      const entry = tried[at] as Entry
      // If no document conflicts, the one that did has just been deleted.
      if (conflicting === null) again.push(entry)
      else duplicates.push({ index: entry.index, first: conflicting, second: entry.id })
    }
  }
  return duplicates
}

const compareEntries = (one: Entry, other: Entry): number =>
  one.index.id - other.index.id ||
  Buffer.compare(one.uniqueKey ?? one.key, other.uniqueKey ?? other.key)

async function removeEntries(
  trx: Transaction<Tables>,
  engine: EngineName,
  entries: readonly EntryKey[],
): Promise<void> {
  for await (const group of inStatements(entries)) {
    const rows = rowsOf(
      engine,
      group.map((each) => ({ ...each, uniqueKey: null })),
    )
    // PostgreSQL plans a join from statistics, which a new table lacks; subqueries use the key.
    await (engine === 'sqlite'
      ? sql`
          delete from index_entries where (index_id, key, id) in (
            select entry.index_id, entry.key, entry.id from ${rows})`
      : sql`
          delete from index_entries where ctid = any(array(
            select (
              select own.ctid from index_entries as own
              where own.index_id = entry.index_id and own.key = entry.key and own.id = entry.id)
            from ${rows}))`
    ).execute(trx)
  }
}

/** Returns entries as a table with the name `entry`. The text of the statement does not change. */
function rowsOf(engine: EngineName, entries: readonly Entry[]): RawBuilder<unknown> {
  const list = JSON.stringify(
    entries.map(({ index, key, id, uniqueKey }) => [
      index.id,
      key.toString('hex'),
      id,
      uniqueKey?.toString('hex') ?? null,
    ]),
  )
  return engine === 'sqlite'
    ? sql`(
        select key as at, value ->> 0 as index_id, unhex(value ->> 1) as key, value ->> 2 as id,
          unhex(value ->> 3) as unique_key
        from json_each(${list})) as entry`
    : sql`(
        select cast(at - 1 as integer) as at, cast(value ->> 0 as bigint) as index_id,
          decode(value ->> 1, 'hex') as key, value ->> 2 as id,
          decode(value ->> 3, 'hex') as unique_key
        from json_array_elements(cast(${list} as json)) with ordinality as each(value, at)) as entry`
}
