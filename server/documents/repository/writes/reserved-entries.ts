import { sql, type Transaction } from 'kysely'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import type { Tables } from '../../../storage/tables.ts'
import type { NewDocument } from '../../document.ts'
import { addToIndexes, NotUnique, openIndexes } from '../../indexes/write/collection-indexes.ts'

/**
 * Adds entries of documents that a job will create or change to unique indexes. Until the job is
 * committed, other documents with the same values are therefore rejected. Readers ignore an entry
 * if its document does not have the values yet. SQLite only.
 *
 * @throws NotUnique, UniqueValuesTooLarge
 */
export async function reserveEntries(
  trx: Transaction<Tables>,
  where: CollectionRef,
  documents: readonly NewDocument[],
): Promise<void> {
  const indexes = await openIndexes(trx, 'sqlite', where)
  const unique = indexes?.definitions.filter(({ isUnique }) => isUnique) ?? []
  if (unique.length === 0) return
  const [duplicate] = await addToIndexes(trx, 'sqlite', where, unique, documents)
  if (duplicate !== undefined) throw new NotUnique(duplicate)
}

/** Removes entries that {@link reserveEntries} has added for documents that were not stored. */
export async function releaseEntries(
  trx: Transaction<Tables>,
  where: CollectionRef,
  documents: readonly NewDocument[],
): Promise<void> {
  const indexes = await openIndexes(trx, 'sqlite', where)
  if (!indexes?.hasUnique) return
  await indexes.remove(documents)
  const ids = JSON.stringify(documents.map(({ id }) => id))
  const stored = await trx
    .selectFrom('documents')
    .select(['id', 'body'])
    .where('database', '=', where.database)
    .where('collection', '=', where.collection)
    .where(sql<boolean>`id in (select value from json_each(${ids}))`)
    .execute()
  // A request may have created a document with the same id and the same entries.
  await indexes.addCommitted(stored)
}
