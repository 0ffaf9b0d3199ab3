import type { Kysely } from 'kysely'
import { invariant } from '../../../contract/invariant.ts'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import { retryConflicts } from '../../../storage/availability/retry-conflicts.ts'
import type { DocumentRef } from '../../../storage/document-ref.ts'
import { databaseExists, requireDatabase } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import type { Tables } from '../../../storage/tables.ts'
import { createEntityTag } from '../../document.ts'
import { openIndexes } from '../../indexes/write/collection-indexes.ts'
import { createBatchedWrites } from './batched-writes.ts'
import { createInsertDocuments, type InsertDocuments } from './insert-documents.ts'
import {
  createAtomicWrites,
  createSingleChanges,
  type DocumentState,
  IndexedCollections,
  type IndexedWrites,
  outcomeOf,
} from './single-changes.ts'

/** Changes of single documents, and new documents that are stored together. */
export interface DocumentChanges {
  readonly insert: InsertDocuments
  /**
   * Replaces the body of a state. Returns the new tag, or undefined if the state has changed.
   *
   * @throws NotUnique
   * @throws Failure `database-not-found` if the database was dropped.
   */
  update(ref: DocumentRef, old: DocumentState, body: string): Promise<string | undefined>
  /**
   * Deletes a state; returns false if it has changed.
   *
   * @throws Failure `database-not-found` if the database was dropped.
   */
  delete(ref: DocumentRef, old: DocumentState): Promise<boolean>
  /**
   * Forgets the indexes of collections. Call it after another process has changed the database. A
   * restored backup may use the id of an index for another one.
   */
  clearCache(): void
}

/**
 * @param tagOf returns the tag of a stored document, to look up whether a change was made.
 */
export function createDocumentChanges(
  store: Store,
  tagOf: (ref: DocumentRef) => Promise<string | undefined>,
): DocumentChanges {
  const { db, engine } = store
  /** Runs a transaction that has no effect but its changes. */
  const transaction: Store['transaction'] = (...parameters) =>
    retryConflicts(
      () => store.transaction(...parameters),
      () => true,
    )
  const single = createSingleChanges(store)
  const indexed = new IndexedCollections()
  const writes = createIndexedWrites(store)
  /**
   * Replaces or deletes a state in a transaction, with its entries in indexes; returns false if it
   * has changed.
   *
   * @param length `long` if it may have to wait for another transaction.
   */
  async function changeInTransaction(
    ref: DocumentRef,
    old: DocumentState,
    next: DocumentState | undefined,
    length?: 'long',
  ): Promise<boolean> {
    const { database, id } = ref
    const isChanged = await transaction(async (trx) => {
      const query =
        next === undefined ? deletionOf(trx, ref, old.tag) : updateOf(trx, ref, old.tag, next)
      const { numAffectedRows } = await trx.executeQuery(query.compile())
      if (numAffectedRows === 0n) return false
      // Read the indexes after the document was changed: builds wait for such transactions.
      const indexes = await indexed.keep(ref, () => openIndexes(trx, engine, ref))
      if (next !== undefined) await indexes?.requireUnique({ id, body: next.body })
      await indexes?.remove([{ id, body: old.body }])
      if (next !== undefined) await indexes?.add([{ id, body: next.body }])
      return true
    }, length)
    if (!isChanged) await requireDatabase(db, database)
    return isChanged
  }

  /**
   * Replaces or deletes a state in one statement; returns false if it was not made, and undefined
   * if it cannot be made.
   */
  function changeInStatement(
    ref: DocumentRef,
    old: DocumentState,
    next: DocumentState | undefined,
  ): Promise<boolean> | undefined {
    const indexes = indexed.get(ref)
    if (indexes === undefined) {
      return next === undefined ? single.delete(ref, old.tag) : single.update(ref, old.tag, next)
    }
    // A build may add entries that the statement does not see.
    if (indexes.some(({ state }) => state !== 'ready')) return undefined
    return next === undefined
      ? writes.delete?.(ref, old, indexes)
      : writes.update?.(ref, old, next, indexes)
  }

  /** Replaces or deletes a state; returns false if it has changed. */
  async function change(
    ref: DocumentRef,
    old: DocumentState,
    next: DocumentState | undefined,
  ): Promise<boolean> {
    const changing = changeInStatement(ref, old, next)
    if (changing === undefined) return changeInTransaction(ref, old, next, 'long')
    const outcome = await outcomeOf(
      resolveOutcome(changing, async () => (await tagOf(ref)) === next?.tag || undefined),
    )
    if (outcome === 'made') return true
    if (await isReplaced(ref, old.tag)) return false
    return changeInTransaction(ref, old, next, outcome === 'locked' ? 'long' : undefined)
  }

  /** Returns whether a document exists in another state than that with a tag. */
  async function isReplaced(ref: DocumentRef, tag: string): Promise<boolean> {
    const current = await tagOf(ref)
    return current !== undefined && current !== tag
  }

  return {
    insert: createInsertDocuments({ store, transaction, single, indexed, writes, tagOf }),
    async update(ref, old, body) {
      const next = { tag: createEntityTag(), body }
      return (await change(ref, old, next)) ? next.tag : undefined
    },
    delete: (ref, old) => change(ref, old, undefined),
    clearCache: () => indexed.clear(),
  }
}

/** Returns the writes of a store. */
function createIndexedWrites(store: Store): IndexedWrites {
  const { prepareChange, atomically } = store
  if (prepareChange !== undefined) return createBatchedWrites(store, prepareChange)
  invariant(atomically, 'a store without batches runs statements synchronously')
  return createAtomicWrites(store, atomically)
}

const deletionOf = (db: Kysely<Tables>, { database, collection, id }: DocumentRef, tag: string) =>
  db
    .deleteFrom('documents')
    .where('database', '=', database)
    .where('collection', '=', collection)
    .where('id', '=', id)
    .where('tag', '=', tag)
    .where(databaseExists(database))

const updateOf = (
  db: Kysely<Tables>,
  { database, collection, id }: DocumentRef,
  tag: string,
  next: DocumentState,
) =>
  db
    .updateTable('documents')
    .set({ tag: next.tag, body: next.body })
    .where('database', '=', database)
    .where('collection', '=', collection)
    .where('id', '=', id)
    .where('tag', '=', tag)
    .where(databaseExists(database))
