// All that is asked of the table of documents stands here, in one file though it is long: what a query
// may be, on either engine, is decided by its key.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Expression, type QueryResult, type RawBuilder, sql } from 'kysely'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { Failure } from '../failure.ts'
import { databaseExists, requireDatabase } from '../storage/database-exists.ts'
import { howManyFit } from '../storage/how-many-fit.ts'
import type { Store } from '../storage/open.ts'
import { settled } from '../storage/settled.ts'
import { createEntityTag } from './entity-tag.ts'

/** Where a document is: the id of its database, its collection and its own id. */
export interface Place {
  readonly database: string
  readonly collection: string
  readonly id: string
}

/** A document as it is stored: JSON with its `id` in it, and the tag of this state. */
export interface StoredDocument {
  readonly id: string
  readonly tag: string
  readonly body: string
}

/** The documents of a store. Every change is durable when it resolves. */
export interface DocumentRepository {
  /** Not to be changed: others who ask for it may be given the same. */
  read(place: Place): Promise<Readonly<StoredDocument> | undefined>
  /** What {@link read} would answer, where the store answers at once; undefined: ask it. */
  recall(place: Place): Readonly<StoredDocument> | undefined
  /** Documents in id order, after one and, where that is given, up to `last`; at most `limit`. */
  list(
    where: Pick<Place, 'database' | 'collection'>,
    after: string | undefined,
    limit: number,
    last?: string,
  ): Promise<StoredDocument[]>
  /**
   * How far {@link list} may go without taking more than so many bytes at once, one document at least;
   * `last` is undefined where all of them take no more. `bytes`: how many they are.
   */
  until(
    where: Pick<Place, 'database' | 'collection'>,
    after: string | undefined,
    limit: number,
    most: number,
    last?: string,
  ): Promise<{ readonly last: string | undefined; readonly bytes: number }>
  /**
   * Stores new documents, all or none.
   *
   * @returns their tags in order, or the id that is there already.
   * @throws Failure `database-not-found` where the database was dropped.
   */
  insert(
    where: Pick<Place, 'database' | 'collection'>,
    documents: readonly { readonly id: string; readonly body: string }[],
  ): Promise<{ readonly tags: readonly string[] } | { readonly exists: string }>
  /**
   * Puts another body in the place of the state with that tag; undefined where it has moved on.
   *
   * @throws Failure `database-not-found` where the database was dropped.
   */
  update(place: Place, tag: string, body: string): Promise<string | undefined>
  /**
   * Deletes the state with that tag; false where it has moved on.
   *
   * @throws Failure `database-not-found` where the database was dropped.
   */
  delete(place: Place, tag: string): Promise<boolean>
  /** The names of the collections of a database that hold documents, in order. */
  collections(database: string): Promise<string[]>
  /**
   * Counts documents of a database after one, at most `limit`, by their collections in order; `last`
   * is the id of the last one counted.
   */
  measure(
    database: string,
    after: Pick<Place, 'collection' | 'id'>,
    limit: number,
  ): Promise<{ name: string; documents: number; bytes: number; last: string }[]>
  /** Deletes some documents of a database that was dropped; how many. Of any other: none, 0. */
  purge(database: string): Promise<number>
  /** The ids of all databases that have documents, those of dropped ones among them. */
  databases(): Promise<string[]>
}

type Affected = Pick<QueryResult<unknown>, 'numAffectedRows'>

/** What a statement answers that has changed one row. */
const done: Affected = { numAffectedRows: 1n }

/**
 * How many values one statement of {@link distinct} finds. SQLite holds up the process: about a
 * millisecond. PostgreSQL is asked as seldom as possible.
 */
const TURN = { sqlite: 50, postgres: 10_000 } as const

/** So many documents of an array are stored before others may read: some milliseconds of work. */
const STORED = 250

/** How many documents {@link DocumentRepository.purge} deletes at once. */
export const PURGE = 500

/** Makes a {@link DocumentRepository}. */
export function createDocumentRepository(store: Store): DocumentRepository {
  const { db, prepare, transaction } = store
  const some = db.selectFrom('documents').select(['id', 'tag', 'body'])
  const one = some
    .where('database', '=', '')
    .where('collection', '=', '')
    .where('id', '=', '')
    .compile()
  const readOne = prepare(one)
  const readOneAtOnce = store.prepareAtOnce?.(one)
  const insertion = sql`
    insert into documents (database, collection, id, tag, body)
    select ${''}, ${''}, ${''}, ${''}, ${''} where ${databaseExists('')}
    on conflict do nothing`.compile(db)
  const insertOne = prepare(insertion)
  const updateOne = prepare(
    db
      .updateTable('documents')
      .set({ tag: '', body: '' })
      .where('database', '=', '')
      .where('collection', '=', '')
      .where('id', '=', '')
      .where('tag', '=', '')
      .where(databaseExists(''))
      .compile(),
  )
  const read = async ({ database, collection, id }: Place) => {
    // No id has one, and PostgreSQL takes none.
    if (id.includes('\0')) return undefined
    const { rows } = await readOne(database, collection, id)
    return rows[0]
  }
  const tagOf = async (place: Place) => (await read(place))?.tag

  return {
    read,
    recall: ({ database, collection, id }) => readOneAtOnce?.(database, collection, id).rows[0],
    list({ database, collection }, after, limit, last) {
      return some
        .where('database', '=', database)
        .where('collection', '=', collection)
        .$if(after !== undefined, (query) => query.where('id', '>', beforeNul(after ?? '')))
        .$if(last !== undefined, (query) => query.where('id', '<=', last ?? ''))
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
        .$if(after !== undefined, (query) => query.where('id', '>', beforeNul(after ?? '')))
        .$if(last !== undefined, (query) => query.where('id', '<=', last ?? ''))
        .orderBy('id')
        .limit(limit)
        .execute()
      const fit = howManyFit(rows, most)
      const bytes = rows.slice(0, fit).reduce((sum, row) => sum + row.bytes, 0)
      return { last: fit === rows.length ? undefined : rows[fit - 1]?.id, bytes }
    },
    async insert({ database, collection }, documents) {
      const [first] = documents
      if (first !== undefined && documents.length === 1) {
        const tag = createEntityTag()
        const { id, body } = first
        const { numAffectedRows } = await settled<Affected>(
          insertOne(database, collection, id, tag, body, database, database),
          async () => ((await tagOf({ database, collection, id })) === tag ? done : undefined),
        )
        if (numAffectedRows !== 0n) return { tags: [tag] }
        await requireDatabase(db, database)
        return { exists: id }
      }
      const rows = documents.map(({ id, body }) => {
        return { database, collection, id, tag: createEntityTag(), body }
      })
      const exists = new Exists()
      try {
        await transaction(async (trx) => {
          for (const [at, row] of rows.entries()) {
            if (at % STORED === STORED - 1) await nextTurn()
            const values = [row.database, row.collection, row.id, row.tag, row.body]
            const parameters = [...values, row.database, row.database]
            const { numAffectedRows } = await trx.executeQuery({ ...insertion, parameters })
            if (numAffectedRows === 0n) throw Object.assign(exists, { id: row.id })
          }
        }, 'long')
      } catch (error) {
        if (error !== exists) throw error
        await requireDatabase(db, database)
        return { exists: exists.id }
      }
      return { tags: rows.map(({ tag }) => tag) }
    },
    async update({ database, collection, id }, tag, body) {
      const next = createEntityTag()
      const { numAffectedRows } = await settled<Affected>(
        updateOne(next, body, database, collection, id, tag, database, database),
        async () => ((await tagOf({ database, collection, id })) === next ? done : undefined),
      )
      if (numAffectedRows !== 0n) return next
      await requireDatabase(db, database)
      return undefined
    },
    async delete({ database, collection, id }, tag) {
      const deletion = db
        .deleteFrom('documents')
        .where('database', '=', database)
        .where('collection', '=', collection)
        .where('id', '=', id)
        .where('tag', '=', tag)
        .where(databaseExists(database))
      const { numDeletedRows } = await settled<{ numDeletedRows: bigint }>(
        deletion.executeTakeFirst(),
        async () =>
          (await tagOf({ database, collection, id })) === undefined
            ? { numDeletedRows: 1n }
            : undefined,
      )
      if (numDeletedRows > 0n) return true
      await requireDatabase(db, database)
      return false
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
      // Asked of the store, not of what this node knows: another may have just created it.
      const owner = db.selectFrom('databases').select('id').where('id', '=', database)
      if (database === SYSTEM_DATABASE || (await owner.executeTakeFirst()) !== undefined) return 0
      const rows = await db
        .selectFrom('documents')
        .select(['collection', 'id'])
        .where('database', '=', database)
        .orderBy('collection')
        .orderBy('id')
        .limit(PURGE)
        .execute()
      const collection = rows[0]?.collection
      const last = rows.findLast((row) => row.collection === collection)
      if (last === undefined) return 0
      // By a range: without statistics, PostgreSQL looks for a list of ids in the whole collection.
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
 * Returns the distinct values of a column in order, {@link TURN} with each statement. It goes from one to
 * the next by an index, where `distinct` would read every row.
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

/** The ids after a text are those after this, since none has U+0000, which PostgreSQL does not take. */
const beforeNul = (text: string): string => text.split('\0', 1)[0] ?? ''

/** Ends a transaction in which a document was found that is there already. */
class Exists extends Failure {
  id = ''

  constructor() {
    super('conflict', 'There is a document with that id already.')
  }
}
