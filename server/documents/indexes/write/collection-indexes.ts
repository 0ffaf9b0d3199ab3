import { type Kysely, sql, type Transaction } from 'kysely'
import { jsonPointer } from '../../../contract/json/json.ts'
import { DocumentConflict } from '../../../failure.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { EngineName } from '../../../storage/engine.ts'
import type { Tables } from '../../../storage/tables.ts'
import { addDuplicates, type IndexDefinition, toDefinition } from '../definition.ts'
import {
  addEntries,
  type Duplicate,
  entriesOf,
  entriesOfAll,
  entryKeysOf,
  findDuplicate,
  type Indexed,
  removeEntries,
} from './entries.ts'

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

/** The indexes of a collection, in a transaction that writes its documents. */
export interface CollectionIndexes {
  /** The indexes in the order of their ids. */
  readonly definitions: readonly IndexDefinition[]
  /** Whether any index is unique. */
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

/**
 * Returns the indexes of a collection that its writers maintain; undefined if there are none.
 *
 * @param changed the names of the fields that the writer changes in all of its documents; indexes on
 * other fields are omitted. By default, it may change all fields.
 */
export async function openIndexes(
  trx: Transaction<Tables>,
  engine: EngineName,
  where: CollectionRef,
  changed?: ReadonlySet<string>,
): Promise<CollectionIndexes | undefined> {
  const rows = await trx
    .selectFrom('document_indexes')
    .select(['id', 'name', 'fields', 'is_unique', 'state'])
    .where('database', '=', where.database)
    .where('collection', '=', where.collection)
    .where(isMaintained)
    .orderBy('id')
    .execute()
  const indexes = rows
    .map(toDefinition)
    .filter(
      ({ fields }) =>
        changed === undefined || fields.some(({ path: [name = ''] }) => changed.has(name)),
    )
  if (indexes.length === 0) return undefined
  return {
    definitions: indexes,
    hasUnique: indexes.some(({ isUnique }) => isUnique),
    async add(documents) {
      const [duplicate] = await addToIndexes(trx, engine, indexes, documents)
      if (duplicate !== undefined) throw new NotUnique(duplicate)
    },
    async addCommitted(documents) {
      await failDuplicates(trx, await addToIndexes(trx, engine, indexes, documents, Infinity))
    },
    async requireUnique(document) {
      if (!indexes.some(({ isUnique }) => isUnique)) return
      const entries = entriesOfAll(indexes, [document], (each, parsed) =>
        entriesOf(indexes, each, parsed),
      )
      const duplicate = await findDuplicate(trx, engine, entries)
      if (duplicate !== undefined) throw new NotUnique(duplicate)
    },
    async remove(documents) {
      const entries = entriesOfAll(indexes, documents, (each, parsed) =>
        entryKeysOf(indexes, each, parsed),
      )
      await removeEntries(trx, engine, entries)
    },
  }
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
  indexes: readonly IndexDefinition[],
  documents: readonly Indexed[],
  uniqueLength?: number,
): Promise<Duplicate[]> {
  // Queries leave out a document whose text is not JSON, so an index needs no entry of it.
  const entries = entriesOfAll(indexes, documents, (each, parsed) =>
    parsed === undefined ? [] : entriesOf(indexes, each, parsed, uniqueLength),
  )
  return addEntries(trx, engine, entries)
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
