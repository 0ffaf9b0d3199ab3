import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import { DOCUMENT_BYTES } from '../../../contract/document.ts'
import { invariant } from '../../../contract/invariant.ts'
import { type Json, jsonPointer } from '../../../contract/json/json.ts'
import { printJson } from '../../../contract/json/strict-json.ts'
import { Failure } from '../../../failure.ts'
import type { EngineName } from '../../../storage/engine.ts'
import type { Tables } from '../../../storage/tables.ts'
import type { SortValue } from '../../query/order.ts'
import { parseFields } from '../../read-fields.ts'
import type { IndexDefinition } from '../definition.ts'
import { keyOfValues, valuesOf } from '../index-key.ts'

/** A document as JSON. */
export interface Indexed {
  readonly id: string
  readonly body: string
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

/** Returns the entries of documents. `parsed` is undefined if a stored text is not JSON. */
export function entriesOfAll<T>(
  indexes: readonly IndexDefinition[],
  documents: readonly Indexed[],
  entriesOfDocument: (document: Indexed, parsed: Json | undefined) => Iterable<T>,
): T[] {
  const names = namesIn(indexes)
  return documents.flatMap((document) => [
    ...entriesOfDocument(document, parseFields(document.body, names)),
  ])
}

/**
 * Yields the entries of a document, one for each index.
 *
 * @param document at least its fields that the indexes have.
 * @param uniqueLength maximum length of its values in unique indexes.
 * @throws UniqueValuesTooLarge
 */
export function* entriesOf(
  indexes: readonly IndexDefinition[],
  { id, body }: Indexed,
  document = parseIndexed(body, indexes),
  uniqueLength = UNIQUE_LENGTH,
): Generator<Entry, void, void> {
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
  document = parseIndexed(body, indexes),
): Generator<EntryKey, void, void> {
  for (const index of indexes) {
    const key = keyOfValues(valuesOf(document, index.fields), index.fields).bytes
    yield { index, key, id }
  }
}

/** Parses the fields of a document that indexes have. */
function parseIndexed(body: string, indexes: readonly IndexDefinition[]): Json {
  const parsed = parseFields(body, namesIn(indexes))
  invariant(parsed !== undefined, 'a document is JSON')
  return parsed
}

/** Returns the names of the top-level fields that indexes have. */
const namesIn = (indexes: readonly IndexDefinition[]): ReadonlySet<string> =>
  new Set(indexes.flatMap(({ fields }) => fields.map(({ path: [name = ''] }) => name)))

/** The columns that identify an entry. */
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

/**
 * Maximum number of entries that a statement writes, and of the bytes of their keys: a few
 * milliseconds of work. Other requests run between two statements.
 */
const STATEMENT_LIMIT = { entries: 500, bytes: 128 * 1024 } as const

/**
 * Adds entries that do not exist yet, except for duplicates in unique indexes, which it returns.
 * Entries are sorted, so that concurrent transactions wait for each other in the same order.
 */
export async function addEntries(
  trx: Transaction<Tables>,
  engine: EngineName,
  entries: readonly Entry[],
): Promise<Duplicate[]> {
  const duplicates: Duplicate[] = []
  for await (const group of inStatements(entries.toSorted(compareEntries))) {
    duplicates.push(...(await addGroup(trx, engine, group)))
  }
  return duplicates
}

/** The id of the document that excludes an entry from a unique index; null if there is none. */
const CONFLICTING = sql`(
  select other.id from index_entries as other
  where other.index_id = entry.index_id and other.sole = entry.unique_key
    and other.id <> entry.id)`

/** Returns the first entry that another document excludes; undefined if there is none. */
export async function findDuplicate(
  trx: Transaction<Tables>,
  engine: EngineName,
  entries: readonly Entry[],
): Promise<Duplicate | undefined> {
  const { rows } = await sql<{ at: number; conflicting: string }>`
    select at, conflicting from (
      select entry.at, ${CONFLICTING} as conflicting from ${rowsOf(engine, entries)}
    ) as states where conflicting is not null order by at limit 1`.execute(trx)
  const [found] = rows
  const entry = found && entries[found.at]
  return entry && { index: entry.index, first: found.conflicting, second: entry.id }
}

/** Deletes entries. */
export async function removeEntries(
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

async function addGroup(
  trx: Transaction<Tables>,
  engine: EngineName,
  group: readonly Entry[],
): Promise<Duplicate[]> {
  const duplicates: Duplicate[] = []
  let missing = group
  while (missing.length > 0) {
    const rows = rowsOf(engine, missing)
    const { numAffectedRows = 0n } = await sql`
      insert into index_entries (index_id, key, id, sole)
      select entry.index_id, entry.key, entry.id, entry.unique_key from ${rows}
      where true order by entry.at on conflict do nothing`.execute(trx)
    if (Number(numAffectedRows) === missing.length) break
    const { rows: skipped } = await sql<{ at: number; conflicting: string | null }>`
      select at, conflicting from (
        select entry.at, ${CONFLICTING} as conflicting, (
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
