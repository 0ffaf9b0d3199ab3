import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Failure } from '../../failure.ts'
import { resolveOutcome } from '../../storage/availability/resolve-outcome.ts'
import { databaseExists, requireDatabase } from '../../storage/database-exists.ts'
import type { CollectionRef, DocumentRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import type { NewDocument } from '../document.ts'
import { createEntityTag } from '../entity-tag.ts'
import { openIndexes } from '../indexes/entries.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'
import { createIndexedWrites, IndexedCollections } from './indexed-writes.ts'
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
   * Replaces the body of the state with that tag. Returns the new tag, or undefined if the state
   * has changed.
   *
   * @throws Failure `database-not-found` if the database was dropped.
   */
  update(ref: DocumentRef, tag: string, body: string): Promise<string | undefined>
  /**
   * Deletes the state with that tag; returns false if it has changed.
   *
   * @throws Failure `database-not-found` if the database was dropped.
   */
  delete(ref: DocumentRef, tag: string): Promise<boolean>
}

/** Documents of an array stored before other requests may read, a few milliseconds of work. */
const STORED = 250

/**
 * @param tagOf returns the tag of a stored document, to look up whether a change was made.
 */
export function createDocumentChanges(
  store: Store,
  tagOf: (ref: DocumentRef) => Promise<string | undefined>,
): DocumentChanges {
  const { db, engine, transaction } = store
  const insertion = sql`
    insert into documents (database, collection, id, tag, body)
    select ${''}, ${''}, ${''}, ${''}, ${''} where ${databaseExists('')}
    on conflict do nothing`.compile(db)
  const single = createSingleChanges(store)
  const indexed = new IndexedCollections()
  const writes = createIndexedWrites(store)
  /**
   * Replaces or deletes the state with that tag, with its entries in indexes; returns false if it
   * has changed.
   */
  async function change(
    ref: DocumentRef,
    tag: string,
    next: Pick<IndexedDocument, 'tag' | 'body'> | undefined,
  ): Promise<boolean> {
    const { database, id } = ref
    const isChanged = await transaction(async (trx) => {
      const old = await selectionOf(trx, ref, tag).executeTakeFirst()
      if (old === undefined) return false
      const query = next === undefined ? deletionOf(trx, ref, tag) : updateOf(trx, ref, tag, next)
      const { numAffectedRows } = await trx.executeQuery(query.compile())
      if (numAffectedRows === 0n) return false
      // After the change of the document: builds of indexes wait for transactions that made one.
      const indexes = await openIndexes(trx, engine, ref)
      indexed.set(ref, indexes?.definitions)
      await indexes?.remove([{ id, body: old.body }])
      if (next !== undefined) await indexes?.add([{ id, body: next.body }])
      return true
    })
    if (!isChanged) await requireDatabase(db, database)
    return isChanged
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
      if (first !== undefined && documents.length === 1 && indexes !== undefined) {
        const document = { ...first, tag: createEntityTag() }
        const isStored = async () => (await tagOf({ ...where, id: first.id })) === document.tag
        if (await writes.insert(where, document, indexes, isStored)) return { tags: [document.tag] }
      }
      if (first !== undefined && documents.length === 1 && indexes === undefined) {
        const tag = createEntityTag()
        const ref = { database, collection, id: first.id }
        const isMade = await resolveOutcome(
          single.insert(ref, tag, first.body),
          async () => (await tagOf(ref)) === tag || undefined,
        )
        if (isMade) return { tags: [tag] }
        if ((await tagOf(ref)) !== undefined) {
          await requireDatabase(db, database)
          return { exists: first.id }
        }
      }
      const rows = documents.map(({ id, body }) => {
        return { database, collection, id, tag: createEntityTag(), body }
      })
      const length = documents.length === 1 ? undefined : 'long'
      try {
        await transaction(async (trx) => {
          for (const [at, row] of rows.entries()) {
            if (at % STORED === STORED - 1) await nextTurn()
            const values = [row.database, row.collection, row.id, row.tag, row.body]
            const parameters = [...values, row.database, row.database]
            const { numAffectedRows } = await trx.executeQuery({ ...insertion, parameters })
            if (numAffectedRows === 0n) throw new Exists(row.id)
          }
          const indexes = await openIndexes(trx, engine, where)
          indexed.set(where, indexes?.definitions)
          if (indexes === undefined) return
          for (let at = 0; at < rows.length; at += STORED) {
            if (at > 0) await nextTurn()
            await indexes.add(rows.slice(at, at + STORED))
          }
        }, length)
      } catch (error) {
        if (!(error instanceof Exists)) throw error
        await requireDatabase(db, database)
        return { exists: error.existing }
      }
      return { tags: rows.map(({ tag }) => tag) }
    },
    async update(ref, tag, body) {
      const next = createEntityTag()
      if (indexed.get(ref) === undefined) {
        const isMade = await resolveOutcome(
          single.update(ref, tag, { tag: next, body }),
          async () => (await tagOf(ref)) === next || undefined,
        )
        if (isMade) return next
        if (await isReplaced(ref, tag)) return undefined
      }
      return (await change(ref, tag, { tag: next, body })) ? next : undefined
    },
    async delete(ref, tag) {
      if (indexed.get(ref) === undefined) {
        const isMade = await resolveOutcome(
          single.delete(ref, tag),
          async () => (await tagOf(ref)) === undefined || undefined,
        )
        if (isMade) return true
        if (await isReplaced(ref, tag)) return false
      }
      return change(ref, tag, undefined)
    },
  }
}

/** Selects the body of a state of a document. */
const selectionOf = (db: Kysely<Tables>, { database, collection, id }: DocumentRef, tag: string) =>
  db
    .selectFrom('documents')
    .select('body')
    .where('database', '=', database)
    .where('collection', '=', collection)
    .where('id', '=', id)
    .where('tag', '=', tag)

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
  next: Pick<IndexedDocument, 'tag' | 'body'>,
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
    super('conflict', 'A document with this id exists already.')
    this.existing = existing
  }
}
