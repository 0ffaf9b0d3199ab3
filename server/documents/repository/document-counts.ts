import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Expression, type RawBuilder, sql } from 'kysely'
import { type BackgroundLoop, createBackgroundLoop } from '../../concurrency/background-loop.ts'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { invariant } from '../../contract/invariant.ts'
import { limitBytes } from '../../storage/changes/portions.ts'
import type { CollectionRef, DocumentRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import { COUNT_BATCH } from '../indexes/read/index-reader.ts'

/** The collections of databases, their sizes, and the documents of dropped databases. */
export interface DocumentCounts {
  /** Returns the names of a database's collections that hold documents, in order. */
  collections(database: string): Promise<string[]>
  /**
   * Counts documents of a collection after an id. `last` is the id of the last document counted, if
   * there may be more. Returns undefined if documents have to be read to count them.
   */
  count(
    where: CollectionRef,
    after: string,
  ): Promise<{ readonly count: number; readonly last: string | undefined } | undefined>
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

/**
 * Number of values that one statement of {@link distinct} finds. On SQLite a statement blocks the
 * process, here for about a millisecond. On PostgreSQL the number of round trips matters.
 */
const VALUES_PER_STATEMENT = { sqlite: 50, postgres: 10_000 } as const

/** Maximum number of documents that {@link DocumentCounts.purge} deletes in one call. */
export const PURGE_BATCH = 500

/** Maximum size of documents that it deletes in one call, bytes; it deletes at least one. */
const PURGE_BYTES = 4 * 1024 * 1024

export function createDocumentCounts(store: Store): DocumentCounts {
  const { db, prepareRead } = store
  const count = prepareRead(
    sql<{ count: number; last: string | null }>`
      select cast(count(*) as integer) as count, max(id) as last from (
        select id from documents
        where database = ${''} and collection = ${''} and id > ${''}
        order by id limit ${sql.lit(COUNT_BATCH)}
      ) as counted`.compile(db),
  )
  return {
    async count({ database, collection }, after) {
      const { rows } = await count(database, collection, after)
      const [row] = rows
      invariant(row, 'an aggregate has a row')
      return {
        count: row.count,
        last: row.count === COUNT_BATCH && row.last !== null ? row.last : undefined,
      }
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
        .limit(PURGE_BATCH)
        .execute()
      const collection = rows[0]?.collection
      const some = rows.slice(0, limitBytes(rows, PURGE_BYTES))
      const last = some.findLast((row) => row.collection === collection)
      if (last === undefined) return 0
      // A range, because PostgreSQL without statistics scans the whole collection for a list of ids.
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
 * Returns the distinct values of a column in order, {@link VALUES_PER_STATEMENT} per statement. It
 * steps from value to value through an index; `distinct` would read every row.
 *
 * @param next selects the first value after another.
 */
async function distinct(
  { db, engine }: Pick<Store, 'db' | 'engine'>,
  next: (after: RawBuilder<string>) => Expression<unknown>,
): Promise<string[]> {
  const names: string[] = []
  const limit = VALUES_PER_STATEMENT[engine]
  for (;;) {
    const { rows } = await sql<{ name: string }>`
      select name from (
        with recursive found(name, nth) as (
          select ${next(sql`${names.at(-1) ?? ''}`)}, 1
          union all
          select ${next(sql`found.name`)}, nth + 1 from found
          where name is not null and nth < ${limit}
        )
        select name, nth from found where name is not null
      ) as names order by nth`.execute(db)
    for (const { name } of rows) names.push(name)
    if (rows.length < limit) return names
    await nextTurn()
  }
}

/**
 * Creates a loop that deletes the documents and other rows of dropped databases. Wake it at startup
 * and after each dropped database. What is left when it stops, the next start deletes.
 *
 * @param isOwner returns whether this node does the work; checked before each run.
 * @param pause awaited between two deletions, so that other work can run.
 * @param purgeOthers deletes the other rows of dropped databases.
 */
export function createPurge(
  counts: Pick<DocumentCounts, 'databases' | 'purge'>,
  isOwner: () => Promise<boolean>,
  pause: () => Promise<unknown>,
  onError: (error: unknown) => void,
  purgeOthers: () => Promise<void>,
): BackgroundLoop {
  return createBackgroundLoop(async (isStopped) => {
    if (!(await isOwner())) return
    await purgeDropped(counts, pause, isStopped)
    if (!isStopped()) await purgeOthers()
  }, onError)
}

/**
 * Deletes the documents of dropped databases in batches until `stopped`.
 *
 * @returns the number of deleted documents.
 */
export async function purgeDropped(
  counts: Pick<DocumentCounts, 'databases' | 'purge'>,
  pause: () => Promise<unknown>,
  stopped: () => boolean = () => false,
): Promise<number> {
  let purged = 0
  if (stopped()) return purged
  for (const database of await counts.databases()) {
    while (!stopped()) {
      const some = await counts.purge(database)
      if (some === 0) break
      purged += some
      await pause()
    }
  }
  return purged
}
