import { type Expression, type SqlBool, sql, type Transaction } from 'kysely'
import type { CollectionIndexes } from '../documents/indexes/write/collection-indexes.ts'
import { portionsOf } from '../storage/changes/portions.ts'
import type { Tables } from '../storage/tables.ts'
import type { Job } from './job.ts'

/** Maximum number of documents of a portion, and of their bytes. */
export const PORTION = { documents: 250, bytes: 1024 * 1024 } as const

/** A job that writes documents of a collection with indexes. */
export interface Reindexing {
  readonly trx: Transaction<Tables>
  readonly job: Job
  readonly pause: () => Promise<unknown>
}

/**
 * Removes stored documents from indexes, before the job changes them.
 *
 * @param isSelected a condition on `documents`.
 * @param locks whether other transactions must not change these documents. PostgreSQL only.
 */
export async function removeStored(
  { trx, job, pause }: Reindexing,
  indexes: CollectionIndexes,
  isSelected: Expression<SqlBool>,
  locks = false,
): Promise<void> {
  const sizes = await trx
    .selectFrom('documents')
    .select(['id', sql<number>`octet_length(body)`.as('bytes')])
    .where(isSelected)
    .orderBy('id')
    .$if(locks, (query) => query.forUpdate())
    .execute()
  for (const { rows } of portionsOf(sizes, PORTION)) {
    const ids = rows.map(({ id }) => id)
    const documents = trx
      .selectFrom('documents')
      .select(['id', 'body'])
      .where('database', '=', job.database)
      .where('collection', '=', job.collection)
      .where('id', 'in', ids)
    await indexes.remove(await documents.execute())
    await pause()
  }
}

/**
 * Adds staged documents to indexes.
 *
 * @param isSelected a condition on `job_documents as staged`.
 */
export async function addStaged(
  { trx, job, pause }: Reindexing,
  add: CollectionIndexes['add'],
  isSelected: Expression<SqlBool>,
): Promise<void> {
  const sizes = await trx
    .selectFrom('job_documents as staged')
    .select(['staged.id', sql<number>`octet_length(staged.body)`.as('bytes')])
    .where('staged.job', '=', job.id)
    .where(isSelected)
    .orderBy('staged.id')
    .execute()
  for (const { rows } of portionsOf(sizes, PORTION)) {
    const ids = rows.map(({ id }) => id)
    const documents = trx
      .selectFrom('job_documents')
      .select(['id', 'body'])
      .where('job', '=', job.id)
      .where('id', 'in', ids)
    await add(await documents.execute())
    await pause()
  }
}
