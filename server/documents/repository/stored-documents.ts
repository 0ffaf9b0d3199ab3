// All queries on the table of documents are in this file, although it is long: the table's key
// decides which queries are possible on either engine.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Expression, type Kysely, type QueryResult, type RawBuilder, sql } from 'kysely'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { Failure } from '../../failure.ts'
import { resolveOutcome } from '../../storage/availability/resolve-outcome.ts'
import { limitBytes } from '../../storage/changes/limit-bytes.ts'
import { databaseExists, requireDatabase } from '../../storage/database-exists.ts'
import type { CollectionRef, DocumentRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/open.ts'
import type { Tables } from '../../storage/tables.ts'
import { beforeNul } from '../document-id.ts'
import { createEntityTag } from '../entity-tag.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { isMaintained, openIndexes } from '../indexes/entries.ts'
import { createIndexReader, type IndexReader } from '../indexes/index-reader.ts'
import { createIndexedWrites } from './indexed-writes.ts'
import { createWriteDocuments, type WriteDocuments } from './write-documents.ts'

/** A stored document. The body is its JSON with the `id`; the tag identifies this state. */
export interface StoredDocument {
  readonly id: string
  readonly tag: string
  readonly body: string
}

type Found = StoredDocument | undefined

/** The documents of a store. Every change is durable when its promise resolves. */
export interface DocumentRepository {
  /**
   * Returns a document; a promise only if the store is asynchronous. Do not modify it: concurrent
   * reads may share the object.
   */
  read(ref: DocumentRef): Found | Promise<Found>
  /** Returns at most `limit` documents in id order, after one id and up to `last`. */
  list(
    where: CollectionRef,
    after: string | undefined,
    limit: number,
    last?: string,
  ): Promise<StoredDocument[]>
  /**
   * Returns how far {@link list} may read without exceeding `most` bytes, at least one document.
   * `last` is undefined if all of them fit. `bytes` is their total size.
   */
  until(
    where: CollectionRef,
    after: string | undefined,
    limit: number,
    most: number,
    last?: string,
  ): Promise<{ readonly last: string | undefined; readonly bytes: number }>
  /**
   * Stores new documents, all or none.
   *
   * @returns their tags in order, or an id that exists.
   * @throws Failure `database-not-found` if the database was dropped.
   */
  insert(
    where: CollectionRef,
    documents: readonly { readonly id: string; readonly body: string }[],
  ): Promise<{ readonly tags: readonly string[] } | { readonly exists: string }>
  /** See `write-documents.ts`. */
  readonly write: WriteDocuments
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
  readonly indexes: IndexReader
  /** Returns the names of a database's collections that hold documents, in order. */
  collections(database: string): Promise<string[]>
  /**
   * Counts at most `limit` documents of a database, after one document, by collection in order.
   * `last` is the id of the last document counted.
   */
  measure(
    database: string,
    after: Pick<DocumentRef, 'collection' | 'id'>,
    limit: number,
  ): Promise<{ name: string; documents: number; bytes: number; last: string }[]>
  /**
   * Deletes some documents of a dropped database; returns their number. Returns 0 for a database
   * that exists.
   */
  purge(database: string): Promise<number>
  /** Returns the ids of all databases that have documents, including dropped ones. */
  databases(): Promise<string[]>
}

type Affected = Pick<QueryResult<unknown>, 'numAffectedRows'>

/** The result of a statement that changed one row. */
const done: Affected = { numAffectedRows: 1n }

/**
 * Number of values that one statement of {@link distinct} finds. On SQLite a statement blocks the
 * process, here for about a millisecond. On PostgreSQL the number of round trips matters.
 */
const TURN = { sqlite: 50, postgres: 10_000 } as const

/** Documents of an array stored before other requests may read, a few milliseconds of work. */
const STORED = 250

/** Maximum number of documents that {@link DocumentRepository.purge} deletes in one call. */
export const PURGE = 500

/** Maximum size of documents that it deletes in one call, bytes; it deletes at least one. */
const PURGE_BYTES = 4 * 1024 * 1024

/**
 * Returns the repository of the table alone, without committed changes of jobs that are not yet
 * written.
 */
export function createStoredDocuments(store: Store): DocumentRepository {
  const { db, engine, prepare, prepareRead, transaction } = store
  const some = db.selectFrom('documents').select(['id', 'tag', 'body'])
  const one = some
    .where('database', '=', '')
    .where('collection', '=', '')
    .where('id', '=', '')
    .compile()
  const readOne = prepareRead(one)
  const insertion = sql`
    insert into documents (database, collection, id, tag, body)
    select ${''}, ${''}, ${''}, ${''}, ${''} where ${databaseExists('')}
    on conflict do nothing`.compile(db)
  const insertOne = prepare(
    sql`
      insert into documents (database, collection, id, tag, body)
      select ${''}, ${''}, ${''}, ${''}, ${''} where ${databaseExists('')} and ${hasNoIndex}
      on conflict do nothing`.compile(db),
  )
  const updateOne = prepare(
    db
      .updateTable('documents')
      .set({ tag: '', body: '' })
      .where('database', '=', '')
      .where('collection', '=', '')
      .where('id', '=', '')
      .where('tag', '=', '')
      .where(databaseExists(''))
      .where(hasNoIndex)
      .compile(),
  )
  const indexed = new IndexedCollections()
  const writes = createIndexedWrites(store)
  const read = ({ database, collection, id }: DocumentRef) => {
    // No id contains U+0000, and PostgreSQL rejects it.
    if (id.includes('\0')) return undefined
    const reading = readOne(database, collection, id)
    return reading instanceof Promise ? reading.then(({ rows }) => rows[0]) : reading.rows[0]
  }
  const tagOf = async (ref: DocumentRef) => (await read(ref))?.tag

  /**
   * Replaces or deletes the state with that tag, with its entries in indexes; returns false if it
   * has changed.
   */
  async function change(
    ref: DocumentRef,
    tag: string,
    next: Pick<StoredDocument, 'tag' | 'body'> | undefined,
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

  return {
    read,
    indexes: createIndexReader(store),
    list({ database, collection }, after, limit, last) {
      return some
        .where('database', '=', database)
        .where('collection', '=', collection)
        .$call((query) => (after === undefined ? query : query.where('id', '>', beforeNul(after))))
        .$call((query) => (last === undefined ? query : query.where('id', '<=', last)))
        .orderBy('id')
        .limit(limit)
        .execute()
    },
    async until({ database, collection }, after, limit, most, last) {
      const rows = await db
        .selectFrom('documents')
        .select(['id', sql<number>`octet_length(body)`.as('bytes')])
        .where('database', '=', database)
        .where('collection', '=', collection)
        .$call((query) => (after === undefined ? query : query.where('id', '>', beforeNul(after))))
        .$call((query) => (last === undefined ? query : query.where('id', '<=', last)))
        .orderBy('id')
        .limit(limit)
        .execute()
      const fit = limitBytes(rows, most)
      const bytes = rows.slice(0, fit).reduce((sum, row) => sum + row.bytes, 0)
      return { last: fit === rows.length ? undefined : rows[fit - 1]?.id, bytes }
    },
    async insert(where, documents) {
      const { database, collection } = where
      const [first] = documents
      const known = indexed.get(where)
      if (first !== undefined && documents.length === 1 && known !== undefined) {
        const document = { ...first, tag: createEntityTag() }
        const isStored = async () => (await tagOf({ ...where, id: first.id })) === document.tag
        if (await writes.insert(where, document, known, isStored)) return { tags: [document.tag] }
      }
      if (first !== undefined && documents.length === 1 && known === undefined) {
        const tag = createEntityTag()
        const { id, body } = first
        const { numAffectedRows } = await resolveOutcome<Affected>(
          insertOne(database, collection, id, tag, body, database, database, database, collection),
          async () => ((await tagOf({ database, collection, id })) === tag ? done : undefined),
        )
        if (numAffectedRows !== 0n) return { tags: [tag] }
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
    write: createWriteDocuments(store),
    async update(ref, tag, body) {
      const { database, collection, id } = ref
      const next = createEntityTag()
      if (indexed.get(ref) === undefined) {
        const { numAffectedRows } = await resolveOutcome<Affected>(
          updateOne(
            ...[next, body, database, collection, id, tag],
            ...[database, database, database, collection],
          ),
          async () => ((await tagOf(ref)) === next ? done : undefined),
        )
        if (numAffectedRows !== 0n) return next
      }
      return (await change(ref, tag, { tag: next, body })) ? next : undefined
    },
    async delete(ref, tag) {
      if (indexed.get(ref) === undefined) {
        const deletion = deletionOf(db, ref, tag).where(hasNoIndexOf(ref))
        const { numDeletedRows } = await resolveOutcome<{ numDeletedRows: bigint }>(
          deletion.executeTakeFirst(),
          async () => ((await tagOf(ref)) === undefined ? { numDeletedRows: 1n } : undefined),
        )
        if (numDeletedRows > 0n) return true
      }
      return change(ref, tag, undefined)
    },
    collections: (database) =>
      distinct(store, (after) =>
        db
          .selectFrom('documents')
          .select('collection as name')
          .where('database', '=', database)
          .where('collection', '>', after)
          .orderBy('collection')
          .limit(1),
      ),
    async measure(database, { collection, id }, limit) {
      const some = db
        .selectFrom('documents')
        .select(['collection', 'id', sql<number>`octet_length(body)`.as('bytes')])
        .where('database', '=', database)
        .where(sql<boolean>`(collection, id) > (${collection}, ${id})`)
        .orderBy('collection')
        .orderBy('id')
        .limit(limit)
        .as('some')
      const rows = await db
        .selectFrom(some)
        .select(({ fn }) => [
          'collection as name',
          fn.countAll().as('documents'),
          fn.sum('bytes').as('bytes'),
          fn.max('id').as('last'),
        ])
        .groupBy('collection')
        .orderBy('collection')
        .execute()
      return rows.map(({ name, documents, bytes, last }) => ({
        name,
        documents: Number(documents),
        bytes: Number(bytes),
        last,
      }))
    },
    async purge(database) {
      // Queries the database, not a cache: another node may have just created it.
      const owner = db.selectFrom('databases').select('id').where('id', '=', database)
      if (database === SYSTEM_DATABASE || (await owner.executeTakeFirst()) !== undefined) return 0
      const rows = await db
        .selectFrom('documents')
        .select(['collection', 'id', sql<number>`octet_length(body)`.as('bytes')])
        .where('database', '=', database)
        .orderBy('collection')
        .orderBy('id')
        .limit(PURGE)
        .execute()
      const collection = rows[0]?.collection
      const some = rows.slice(0, limitBytes(rows, PURGE_BYTES))
      const last = some.findLast((row) => row.collection === collection)
      if (last === undefined) return 0
      // By a range: without statistics, PostgreSQL scans the whole collection for a list of ids.
      const { numDeletedRows } = await db
        .deleteFrom('documents')
        .where('database', '=', database)
        .where('collection', '=', last.collection)
        .where('id', '<=', last.id)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
    databases: () =>
      distinct(store, (after) =>
        db
          .selectFrom('documents')
          .select('database as name')
          .where('database', '>', after)
          .orderBy('database')
          .limit(1),
      ),
  }
}

/**
 * Returns the distinct values of a column in order, {@link TURN} per statement. It steps from value
 * to value through an index; `distinct` would read every row.
 *
 * @param next selects the first value after another.
 */
async function distinct(
  { db, engine }: Pick<Store, 'db' | 'engine'>,
  next: (after: RawBuilder<string>) => Expression<unknown>,
): Promise<string[]> {
  const names: string[] = []
  const turn = TURN[engine]
  for (;;) {
    const { rows } = await sql<{ name: string }>`
      select name from (
        with recursive found(name, nth) as (
          select ${next(sql`${names.at(-1) ?? ''}`)}, 1
          union all
          select ${next(sql`found.name`)}, nth + 1 from found
          where name is not null and nth < ${turn}
        )
        select name, nth from found where name is not null
      ) as names order by nth`.execute(db)
    for (const { name } of rows) names.push(name)
    if (rows.length < turn) return names
    await nextTurn()
  }
}

/** Returns a condition that a collection has no index that its writers maintain. */
const hasNoIndexOf = ({ database, collection }: CollectionRef) => sql<boolean>`not exists (
  select 1 from document_indexes where document_indexes.database = ${database}
  and document_indexes.collection = ${collection} and ${isMaintained})`

/** The same in a compiled statement, where it adds two parameters. */
const hasNoIndex = hasNoIndexOf({ database: '', collection: '' })

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
  next: Pick<StoredDocument, 'tag' | 'body'>,
) =>
  db
    .updateTable('documents')
    .set({ tag: next.tag, body: next.body })
    .where('database', '=', database)
    .where('collection', '=', collection)
    .where('id', '=', id)
    .where('tag', '=', tag)
    .where(databaseExists(database))

/**
 * The indexes that collections had when a document was last written. Statements check that they are
 * current. A collection without indexes has no entry.
 */
class IndexedCollections {
  readonly #indexes = new Map<string, readonly IndexDefinition[]>()

  get({ database, collection }: CollectionRef): readonly IndexDefinition[] | undefined {
    return this.#indexes.size === 0 ? undefined : this.#indexes.get(`${database}/${collection}`)
  }

  set({ database, collection }: CollectionRef, indexes: readonly IndexDefinition[] | undefined) {
    const key = `${database}/${collection}`
    if (indexes !== undefined) this.#indexes.set(key, indexes)
    else if (this.#indexes.size > 0) this.#indexes.delete(key)
  }
}

/** Rolls back a transaction after it finds an existing document. */
class Exists extends Failure {
  readonly existing: string

  constructor(existing: string) {
    super('conflict', 'A document with this id exists already.')
    this.existing = existing
  }
}
