import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { invariant } from '../../../contract/invariant.ts'
import { Failure } from '../../../failure.ts'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import { retryConflicts } from '../../../storage/availability/retry-conflicts.ts'
import type { CollectionRef, DocumentRef } from '../../../storage/document-ref.ts'
import { RowLocked } from '../../../storage/engine.ts'
import { databaseExists, requireDatabase } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import type { Tables } from '../../../storage/tables.ts'
import type { NewDocument } from '../../document.ts'
import { createEntityTag } from '../../entity-tag.ts'
import { openIndexes } from '../../indexes/write/collection-indexes.ts'
import { LARGE_LENGTH } from '../../json/parse-in-turns.ts'
import { createAtomicWrites } from './atomic-writes.ts'
import { createBatchedWrites } from './batched-writes.ts'
import { type DocumentState, IndexedCollections, type IndexedWrites } from './indexed-writes.ts'
import { createSingleChanges } from './single-changes.ts'

/** Changes of single documents, and new documents that are stored together. */
export interface DocumentChanges {
  /**
   * Stores new documents, all or none.
   *
   * @returns their tags in order, or an id that exists.
   * @throws Failure `database-not-found` if the database was dropped.
   */
  insert(
    where: CollectionRef,
    documents: readonly NewDocument[],
  ): Promise<{ readonly tags: readonly string[] } | { readonly exists: string }>
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

/** Number of documents of an array that are stored without a pause, a few milliseconds of work. */
const INSERT_BATCH = 250

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
  const insertion = sql`
    insert into documents (database, collection, id, tag, body)
    select ${''}, ${''}, ${''}, ${''}, ${''} where ${databaseExists('')}
    on conflict do nothing`.compile(db)
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
      // After the change of the document: builds of indexes wait for transactions that made one.
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
    if (isLarge(old) || (next !== undefined && isLarge(next))) return undefined
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
    async insert(where, documents) {
      const { database, collection } = where
      const [first] = documents
      const indexes = indexed.get(where)
      let isLong = documents.length > 1
      const isSingle = documents.length === 1
      if (first !== undefined && isSingle && indexes !== undefined && !isLarge(first)) {
        const document = { ...first, tag: createEntityTag() }
        const isStored = async () => (await tagOf({ ...where, id: first.id })) === document.tag
        const outcome = await outcomeOf(writes.insert(where, document, indexes, isStored))
        if (outcome === 'made') return { tags: [document.tag] }
        isLong = outcome === 'locked'
      }
      if (first !== undefined && isSingle && indexes === undefined) {
        const tag = createEntityTag()
        const ref = { database, collection, id: first.id }
        const outcome = await outcomeOf(
          resolveOutcome(
            single.insert(ref, tag, first.body),
            async () => (await tagOf(ref)) === tag || undefined,
          ),
        )
        if (outcome === 'made') return { tags: [tag] }
        isLong = outcome === 'locked'
        if ((await tagOf(ref)) !== undefined) {
          await requireDatabase(db, database)
          return { exists: first.id }
        }
      }
      const rows = documents.map(({ id, body }) => {
        return { database, collection, id, tag: createEntityTag(), body }
      })
      try {
        await transaction(
          async (trx) => {
            for (const [at, row] of rows.entries()) {
              if (at % INSERT_BATCH === INSERT_BATCH - 1) await nextTurn()
              const values = [row.database, row.collection, row.id, row.tag, row.body]
              const parameters = [...values, row.database, row.database]
              const { numAffectedRows } = await trx.executeQuery({ ...insertion, parameters })
              if (numAffectedRows === 0n) throw new Exists(row.id)
            }
            const indexes = await indexed.keep(where, () => openIndexes(trx, engine, where))
            if (indexes === undefined) return
            for (let at = 0; at < rows.length; at += INSERT_BATCH) {
              if (at > 0) await nextTurn()
              await indexes.add(rows.slice(at, at + INSERT_BATCH))
            }
          },
          isLong ? 'long' : undefined,
        )
      } catch (error) {
        if (!(error instanceof Exists)) throw error
        await requireDatabase(db, database)
        return { exists: error.existing }
      }
      return { tags: rows.map(({ tag }) => tag) }
    },
    async update(ref, old, body) {
      const next = { tag: createEntityTag(), body }
      return (await change(ref, old, next)) ? next.tag : undefined
    },
    delete: (ref, old) => change(ref, old, undefined),
    clearCache: () => indexed.clear(),
  }
}

/** Returns whether a transaction computes the entries of a document in several turns. */
const isLarge = ({ body }: Pick<DocumentState, 'body'>) => body.length > LARGE_LENGTH

/** Returns whether a change was made, or would have to wait for the lock of a longer transaction. */
async function outcomeOf(change: Promise<boolean>): Promise<'made' | 'not made' | 'locked'> {
  try {
    return (await change) ? 'made' : 'not made'
  } catch (error) {
    if (error instanceof RowLocked) return 'locked'
    throw error
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

/** Rolls back a transaction after it finds an existing document. */
class Exists extends Failure {
  readonly existing: string

  constructor(existing: string) {
    super('conflict', 'A document with this id already exists.')
    this.existing = existing
  }
}
