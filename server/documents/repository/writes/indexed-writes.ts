import { type RawBuilder, sql } from 'kysely'
import type { CollectionRef, DocumentRef } from '../../../storage/document-ref.ts'
import { RowLocked } from '../../../storage/engine.ts'
import type { IndexDefinition } from '../../indexes/definition.ts'
import type { IndexedDocument } from '../../indexes/read/index-reader.ts'
import { type CollectionIndexes, isMaintained } from '../../indexes/write/collection-indexes.ts'

/** A state of a document. The tag identifies it. */
export type DocumentState = Pick<IndexedDocument, 'tag' | 'body'>

/**
 * Writes single documents of collections whose indexes are known, with their entries. A write returns
 * whether it was made. It is not made if the collection has other indexes by now, if a unique
 * index excludes the document, or if the database was dropped.
 */
export interface IndexedWrites {
  /**
   * Stores a new document, unless one with its id exists.
   *
   * @param isStored looks up whether the document was stored, if the database did not confirm it.
   */
  insert(
    where: CollectionRef,
    document: IndexedDocument,
    indexes: readonly IndexDefinition[],
    isStored: () => Promise<boolean>,
  ): Promise<boolean>
  /** Replaces a state. The indexes are ready. PostgreSQL only. */
  update?(
    ref: DocumentRef,
    old: DocumentState,
    next: DocumentState,
    indexes: readonly IndexDefinition[],
  ): Promise<boolean>
  /** Deletes a state. The indexes are ready. PostgreSQL only. */
  delete?(
    ref: DocumentRef,
    old: DocumentState,
    indexes: readonly IndexDefinition[],
  ): Promise<boolean>
}

/** How a statement ended: `locked` if it would have to wait for the lock of a longer transaction. */
export type Outcome = 'made' | 'not made' | 'locked'

export async function outcomeOf(change: Promise<boolean>): Promise<Outcome> {
  try {
    return (await change) ? 'made' : 'not made'
  } catch (error) {
    if (error instanceof RowLocked) return 'locked'
    throw error
  }
}

/** Returns the ids of indexes, separated by commas, to compare with {@link maintainedIds}. */
export const idsOf = (indexes: readonly IndexDefinition[]): string =>
  indexes.map(({ id }) => id).join()

/** Returns the ids of the indexes that writers of a collection maintain, separated by commas. */
export const maintainedIds = (database: RawBuilder<string>, collection: RawBuilder<string>) =>
  sql<string>`coalesce((
    select string_agg(cast(id as text), ',' order by id) from document_indexes
    where document_indexes.database = ${database} and document_indexes.collection = ${collection}
    and ${isMaintained}), '')`

/** Maximum number of collections whose indexes are kept. A full cache is cleared. */
const MAX_CACHED = 10_000

/**
 * The indexes that collections had when a document was last written. Statements check that they are
 * current. A collection without indexes has no entry.
 */
export class IndexedCollections {
  readonly #indexes = new Map<string, readonly IndexDefinition[]>()
  #cleared = 0

  get({ database, collection }: CollectionRef): readonly IndexDefinition[] | undefined {
    return this.#indexes.size === 0 ? undefined : this.#indexes.get(`${database}/${collection}`)
  }

  /** Keeps the indexes of a collection that `open` returns. */
  async keep<T extends Pick<CollectionIndexes, 'definitions'>>(
    where: CollectionRef,
    open: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const since = this.#cleared
    const indexes = await open()
    // Do not keep what was read before the indexes were forgotten.
    if (since === this.#cleared) this.#set(where, indexes?.definitions)
    return indexes
  }

  clear(): void {
    this.#cleared++
    this.#indexes.clear()
  }

  #set({ database, collection }: CollectionRef, indexes: readonly IndexDefinition[] | undefined) {
    const key = `${database}/${collection}`
    if (indexes !== undefined) {
      if (this.#indexes.size >= MAX_CACHED) this.#indexes.clear()
      this.#indexes.set(key, indexes)
    } else if (this.#indexes.size > 0) this.#indexes.delete(key)
  }
}
