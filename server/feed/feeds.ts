import { sql, type Transaction } from 'kysely'
import { nextTurn } from '../concurrency/turns.ts'
import { CHANGES } from '../contract/feed.ts'
import { Failure, systemCode } from '../failure.ts'
import { beginChange } from '../storage/changes/begin-change.ts'
import { limitBytes } from '../storage/changes/portions.ts'
import type { OnTargetRecord } from '../storage/changes/recorder.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import { createEpoch, createFeedTriggers, dropFeedTriggers } from '../storage/feed-triggers.ts'
import { requireDatabase } from '../storage/sql/database-exists.ts'
import type { Store } from '../storage/store.ts'
import type { FeedsTable, Tables } from '../storage/tables.ts'

/** The feed of a collection. */
export type Feed = Readonly<FeedsTable>

/** A change of a document. */
export interface StoredChange {
  /** Changes of a feed are numbered without gaps, in the order in which they were committed. */
  readonly number: number
  readonly id: string
  readonly change: 'created' | 'replaced' | 'deleted'
  /** The tag of the document after the change, or when it was deleted. */
  readonly tag: string
  /** When the statement ran, ms since 1970. */
  readonly at: number
  /** The document after the change; null if it was deleted. */
  readonly body: string | null
}

/** Maximum number of rows that one read or one removal looks at, and their size, bytes. */
const BATCH = { rows: 500, bytes: 1024 * 1024 } as const

/** How long turning a feed on waits for transactions that write documents, ms. */
const WRITERS_WAIT = 5_000

/** SQLSTATE of a lock that was not available in time. */
const LOCK_NOT_AVAILABLE = '55P03'

/** The feeds of a store. Every change is durable when its promise resolves. */
export interface Feeds {
  /** Returns the feed of a collection, or undefined. */
  find(where: CollectionRef): Promise<Feed | undefined>
  /** Returns the feeds of a database, by collection. */
  list(database: string): Promise<readonly Feed[]>
  /** Returns the number of the last change of a feed; undefined if it was turned off. */
  lastOf(feed: Feed): Promise<number | undefined>
  /**
   * Returns changes after one, at least one if there are any. They begin with a later one if those
   * before it were removed.
   */
  read(feed: Feed, after: number, limit?: number): Promise<readonly StoredChange[]>
  /**
   * Turns a feed on, or changes how long it keeps changes, ms. All changes that begin after this
   * resolves are in the feed.
   *
   * @throws Failure `busy` if a transaction writes documents for too long; `database-not-found`
   */
  put(
    where: CollectionRef,
    retain: number,
    onRecord: OnTargetRecord,
  ): Promise<{ readonly created: boolean; readonly feed: Feed }>
  /** Turns a feed off; returns undefined if there is none. */
  remove(where: CollectionRef, onRecord: OnTargetRecord): Promise<Feed | undefined>
  /** Removes expired changes, those of former feeds, and the triggers without a feed. */
  prune(now: number, isStopped: () => boolean): Promise<void>
}

export function createFeeds({ db, engine, change, transaction, prepareRead }: Store): Feeds {
  const ofCollection = (
    { database, collection }: CollectionRef,
    source: Pick<typeof db, 'selectFrom'>,
  ) =>
    source
      .selectFrom('feeds')
      .selectAll()
      .where('database', '=', database)
      .where('collection', '=', collection)
  const findFeed = prepareRead<Feed>(ofCollection({ database: '', collection: '' }, db).compile())
  const readLast = prepareRead<{ last: number }>(
    db.selectFrom('feeds').select('last').where('id', '=', 0).where('epoch', '=', '').compile(),
  )
  const readSizes = prepareRead<{ last: number; bytes: number }>(
    sql<{ last: number; bytes: number }>`
      select last, bytes from feed_entries where feed = ${0} and last > ${0}
      order by last limit ${sql.lit(BATCH.rows)}`.compile(db),
  )
  const limit = sql`limit cast(${0} as integer)`
  const readChanges = prepareRead<StoredChange>(
    (engine === 'sqlite'
      ? sql<StoredChange>`
          select last as number, id, change, tag, at, body from feed_entries
          where feed = ${0} and last > ${0} and last <= ${0} order by last ${limit}`
      : sql<StoredChange>`
          select number, id, change, tag, at, body from (
            select last - count + nth as number, each.id, change, each.tag, at, each.body
            from (
              select *, sum(bytes) over (order by last) - bytes as before from (
                select * from feed_entries where feed = ${0} and last > ${0}
                order by last limit ${sql.lit(BATCH.rows)}
              ) as next
            ) as entries cross join lateral unnest(ids, tags, bodies) with ordinality
              as each(id, tag, body, nth)
            where before < ${sql.lit(BATCH.bytes)}
          ) as changes where number > ${0} order by number ${limit}`
    ).compile(db),
  )
  const removeEntries = (trx: Transaction<Tables>, feed: number, last: number) =>
    trx.deleteFrom('feed_entries').where('feed', '=', feed).where('last', '<=', last).execute()

  /** Returns the oldest rows of a feed that satisfy a condition, as many as one removal deletes. */
  async function oldest(feed: number, before: number) {
    const rows = await db
      .selectFrom('feed_entries')
      .select(['last', 'bytes', 'at'])
      .where('feed', '=', feed)
      .orderBy('last')
      .limit(BATCH.rows)
      .execute()
    const kept = rows.findIndex(({ at }) => at >= before)
    const some = kept === -1 ? rows : rows.slice(0, kept)
    return some.slice(0, limitBytes(some, 4 * BATCH.bytes))
  }

  /** Removes rows of a feed in batches, until the oldest one is not older than `before`. */
  async function removeOlder(feed: number, before: number, isStopped: () => boolean) {
    while (!isStopped()) {
      const rows = await oldest(feed, before)
      const first = rows.at(-1)?.last
      if (first === undefined) return
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
      await transaction(async (trx) => {
        await trx
          .updateTable('feeds')
          .set((eb) => ({ first, bytes: eb('bytes', '-', bytes) }))
          .where('id', '=', feed)
          .execute()
        await removeEntries(trx, feed, first)
      })
      await nextTurn()
    }
  }

  /** Drops the triggers if no collection has a feed, unless somebody reads documents right now. */
  async function dropUnused(): Promise<void> {
    const hasFeed = async (source: Pick<typeof db, 'selectFrom'>) =>
      (await source.selectFrom('feeds').select('id').limit(1).executeTakeFirst()) !== undefined
    const triggers = await (engine === 'sqlite'
      ? sql`select 1 from sqlite_schema where type = 'trigger' and name = 'feed_created'`
      : sql`select 1 from pg_trigger where tgrelid = 'documents'::regclass and tgname = 'feed_created'`
    ).execute(db)
    if (triggers.rows.length === 0 || (await hasFeed(db))) return
    await transaction(async (trx) => {
      if (engine === 'postgres') {
        await sql`lock table documents in access exclusive mode nowait`.execute(trx)
      }
      if (!(await hasFeed(trx))) await dropFeedTriggers(trx, engine)
    }).catch(ignoreLocked)
  }

  return {
    async find({ database, collection }) {
      return (await findFeed(database, collection)).rows[0]
    },
    list: (database) =>
      db
        .selectFrom('feeds')
        .selectAll()
        .where('database', '=', database)
        .orderBy('collection')
        .execute(),
    async lastOf({ id, epoch }) {
      return (await readLast(id, epoch)).rows[0]?.last
    },
    async read({ id }, after, limit = CHANGES.max) {
      // One statement, because each is a round trip.
      if (engine === 'postgres') return (await readChanges(id, after, after, limit)).rows
      const { rows } = await readSizes(id, after)
      const last = rows[limitBytes(rows, BATCH.bytes) - 1]?.last
      return last === undefined ? [] : (await readChanges(id, after, last, limit)).rows
    },
    put: (where, retain, { record, actor, target }) =>
      change(async (trx) => {
        const existed = await ofCollection(where, trx).executeTakeFirst()
        if (existed === undefined && engine === 'postgres') await lockWriters(trx)
        const id = await beginChange(trx, actor)
        await requireDatabase(trx, where.database)
        // The lock of the revision orders changes of feeds.
        const found = await ofCollection(where, trx).executeTakeFirst()
        const fresh = { epoch: createEpoch(), first: 0, last: 0, bytes: 0 }
        const feed: Feed = { ...where, id, ...fresh, ...found, retain }
        if (found === undefined) {
          await trx.insertInto('feeds').values(feed).execute()
          await createFeedTriggers(trx, engine)
        } else {
          await trx.updateTable('feeds').set({ retain }).where('id', '=', feed.id).execute()
        }
        const before = found && { retain: found.retain }
        const [action, outcome] = ['feed.set', 'done'] as const
        await record(trx, {
          actor,
          target,
          action,
          outcome,
          before: before ?? null,
          after: { retain },
        })
        return { created: found === undefined, feed }
      }),
    remove: (where, { record, actor, target }) =>
      change(async (trx) => {
        if ((await ofCollection(where, trx).executeTakeFirst()) === undefined) return undefined
        await beginChange(trx, actor)
        const feed = await ofCollection(where, trx).executeTakeFirst()
        if (feed === undefined) return undefined
        await trx.deleteFrom('feeds').where('id', '=', feed.id).execute()
        if (engine === 'postgres') {
          await sql`select pg_notify('gatehouse_feed', ${String(feed.id)})`.execute(trx)
        }
        const before = { retain: feed.retain }
        const [action, outcome] = ['feed.remove', 'done'] as const
        await record(trx, { actor, target, action, outcome, before, after: null })
        return feed
      }),
    async prune(now, isStopped) {
      const feeds = await db.selectFrom('feeds').select(['id', 'retain']).execute()
      for (const { id, retain } of feeds) await removeOlder(id, now - retain, isStopped)
      const known = new Set(feeds.map(({ id }) => id))
      for (let feed = 0; !isStopped(); ) {
        const next = await db
          .selectFrom('feed_entries')
          .select('feed')
          .where('feed', '>', feed)
          .orderBy('feed')
          .limit(1)
          .executeTakeFirst()
        if (next === undefined) break
        feed = next.feed
        if (!known.has(feed) && (await isFormer(feed))) await removeOlder(feed, Infinity, isStopped)
      }
      await dropUnused()
    },
  }

  /** Returns whether a feed was turned off, and not turned on since the others were read. */
  async function isFormer(feed: number): Promise<boolean> {
    const found = await db.selectFrom('feeds').select('id').where('id', '=', feed).execute()
    return found.length === 0
  }
}

/**
 * Waits for transactions that write documents without a feed, and keeps others from writing until
 * this one ends.
 *
 * @throws Failure `busy`
 */
async function lockWriters(trx: Transaction<Tables>): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(WRITERS_WAIT)}`.execute(trx)
  try {
    await sql`lock table documents in share row exclusive mode`.execute(trx)
  } catch (error) {
    if (!isLocked(error)) throw error
    throw new Failure('busy', 'Documents are being written for too long. Try again.', {
      cause: error,
    })
  }
  await sql`set local lock_timeout = 0`.execute(trx)
}

const isLocked = (error: unknown) =>
  systemCode(error) === LOCK_NOT_AVAILABLE ||
  (error instanceof Error && systemCode(error.cause) === LOCK_NOT_AVAILABLE)

function ignoreLocked(error: unknown): void {
  if (!isLocked(error)) throw error
}
