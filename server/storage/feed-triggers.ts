import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { EngineName } from './engine.ts'
import type { Tables } from './tables.ts'

/** Returns the begin of the positions of a new feed. */
export const createEpoch = (): string => randomBytes(6).toString('hex')

const TRIGGERS = [
  { name: 'feed_created', event: 'insert', row: 'new', change: 'created' },
  { name: 'feed_replaced', event: 'update', row: 'new', change: 'replaced' },
  { name: 'feed_deleted', event: 'delete', row: 'old', change: 'deleted' },
] as const

/**
 * Creates the triggers that add changes of documents to feeds, in the transaction of the change
 * (docs/decisions/0043-change-feed-by-triggers.md). They exist only while a collection has a feed.
 *
 * On PostgreSQL, call {@link lockDocuments} before.
 */
export async function createFeedTriggers(trx: Kysely<Tables>, engine: EngineName): Promise<void> {
  for (const { name, event, row, change } of TRIGGERS) {
    const body = sql.raw(row === 'new' ? 'new.body' : 'null')
    const [trigger, on, changed] = [sql.raw(name), sql.raw(event), sql.raw(row)]
    await (engine === 'postgres'
      ? sql`
          create or replace trigger ${trigger} after ${on} on documents
          referencing ${changed} table as changed
          for each statement execute function feed_documents(${sql.lit(change)})`
      : sql`
          create trigger if not exists ${trigger} after ${on} on documents begin
            update feeds set last = last + 1,
              bytes = bytes + octet_length(${changed}.id) + 64 + coalesce(octet_length(${body}), 0)
            where database = ${changed}.database and collection = ${changed}.collection;
            insert into feed_entries (feed, last, at, bytes, change, id, tag, body)
            select feeds.id, last, cast(unixepoch('subsec') * 1000 as integer),
              octet_length(${changed}.id) + 64 + coalesce(octet_length(${body}), 0),
              ${sql.lit(change)}, ${changed}.id, ${changed}.tag, ${body}
            from feeds
            where database = ${changed}.database and collection = ${changed}.collection;
          end`
    ).execute(trx)
  }
}

/** Drops the triggers. On PostgreSQL, it waits for all readers of documents. */
export async function dropFeedTriggers(trx: Kysely<Tables>, engine: EngineName): Promise<void> {
  for (const { name } of TRIGGERS) {
    const table = engine === 'postgres' ? sql`on documents` : sql``
    await sql`drop trigger if exists ${sql.raw(name)} ${table}`.execute(trx)
  }
}
