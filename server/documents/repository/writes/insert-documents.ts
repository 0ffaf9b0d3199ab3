import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { Failure } from '../../../failure.ts'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import type { CollectionRef, DocumentRef } from '../../../storage/document-ref.ts'
import { databaseExists, requireDatabase } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import { createEntityTag, type NewDocument } from '../../document.ts'
import type { IndexDefinition } from '../../indexes/definition.ts'
import { openIndexes } from '../../indexes/write/collection-indexes.ts'
import {
  type IndexedCollections,
  type IndexedWrites,
  type Outcome,
  outcomeOf,
  type SingleChanges,
} from './single-changes.ts'

/** The tags of new documents in order, or an id that exists. */
type Inserted = { readonly tags: readonly string[] } | { readonly exists: string }

/**
 * Stores new documents, all or none.
 *
 * @throws Failure `database-not-found` if the database was dropped.
 */
export type InsertDocuments = (
  where: CollectionRef,
  documents: readonly NewDocument[],
) => Promise<Inserted>

export interface InsertDocumentsDeps {
  readonly store: Pick<Store, 'db' | 'engine'>
  readonly transaction: Store['transaction']
  readonly single: Pick<SingleChanges, 'insert'>
  readonly indexed: IndexedCollections
  readonly writes: Pick<IndexedWrites, 'insert'>
  /** Returns the tag of a stored document, to look up whether it was inserted. */
  readonly tagOf: (ref: DocumentRef) => Promise<string | undefined>
}

/** Number of documents of an array that are stored without a pause, a few milliseconds of work. */
const INSERT_BATCH = 250

/** Returns an {@link InsertDocuments}. It inserts one document in one statement if possible. */
export function createInsertDocuments(deps: InsertDocumentsDeps): InsertDocuments {
  const { transaction, single, indexed, writes, tagOf } = deps
  const { db, engine } = deps.store
  const insertion = sql`
    insert into documents (database, collection, id, tag, body)
    select ${''}, ${''}, ${''}, ${''}, ${''} where ${databaseExists('')}
    on conflict do nothing`.compile(db)

  /** Inserts a document and its entries in one statement. */
  function insertIndexed(
    where: CollectionRef,
    document: NewDocument,
    tag: string,
    indexes: readonly IndexDefinition[],
  ): Promise<Outcome> {
    const isStored = async () => (await tagOf({ ...where, id: document.id })) === tag
    return outcomeOf(writes.insert(where, { ...document, tag }, indexes, isStored))
  }

  /** Inserts a document of a collection without indexes in one statement. */
  function insertUnindexed(
    where: CollectionRef,
    { id, body }: NewDocument,
    tag: string,
  ): Promise<Outcome> {
    const ref = { ...where, id }
    return outcomeOf(
      resolveOutcome(
        single.insert(ref, tag, body),
        async () => (await tagOf(ref)) === tag || undefined,
      ),
    )
  }

  /**
   * Inserts documents in a transaction, all or none.
   *
   * @param length `long` if it may have to wait for another transaction.
   */
  async function insertInTransaction(
    where: CollectionRef,
    documents: readonly NewDocument[],
    length?: 'long',
  ): Promise<Inserted> {
    const { database, collection } = where
    const rows = documents.map(({ id, body }) => {
      return { database, collection, id, tag: createEntityTag(), body }
    })
    try {
      await transaction(async (trx) => {
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
      }, length)
    } catch (error) {
      if (!(error instanceof Exists)) throw error
      await requireDatabase(db, database)
      return { exists: error.existing }
    }
    return { tags: rows.map(({ tag }) => tag) }
  }

  /** Inserts a document in one statement if possible, otherwise in a transaction. */
  async function insertOne(where: CollectionRef, document: NewDocument): Promise<Inserted> {
    const indexes = indexed.get(where)
    const tag = createEntityTag()
    const outcome = await (indexes === undefined
      ? insertUnindexed(where, document, tag)
      : insertIndexed(where, document, tag, indexes))
    if (outcome === 'made') return { tags: [tag] }
    if (indexes === undefined && (await tagOf({ ...where, id: document.id })) !== undefined) {
      await requireDatabase(db, where.database)
      return { exists: document.id }
    }
    return insertInTransaction(where, [document], outcome === 'locked' ? 'long' : undefined)
  }

  return async (where, documents) => {
    const [first, ...others] = documents
    return first !== undefined && others.length === 0
      ? insertOne(where, first)
      : insertInTransaction(where, documents, documents.length > 1 ? 'long' : undefined)
  }
}

/** Rolls back a transaction after it finds an existing document. */
class Exists extends Failure {
  readonly existing: string

  constructor(existing: string) {
    super('conflict', 'A document with this id already exists.')
    this.existing = existing
  }
}
