import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'
import { codePointText } from './code-point-text.ts'

/**
 * Creates the tables of the feeds of collections and, on PostgreSQL, the functions that write them
 * (docs/decisions/0043-change-feed-by-triggers.md).
 */
export function feeds(engine: EngineName): Migration {
  const text = codePointText(engine)
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema
        .createTable('feeds')
        .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('database', text, (column) => column.notNull())
        .addColumn('collection', text, (column) => column.notNull())
        .addColumn('epoch', 'text', (column) => column.notNull())
        .addColumn('retain', 'bigint', (column) => column.notNull())
        .addColumn('first', 'bigint', (column) => column.notNull())
        .addColumn('last', 'bigint', (column) => column.notNull())
        .addColumn('bytes', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('feeds_by_collection', ['database', 'collection'])
        .execute()
      await (engine === 'sqlite' ? createSqliteEntries(db) : createPostgresEntries(db))
    },
  }
}

/** One row for each change. */
async function createSqliteEntries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table feed_entries (
      feed integer not null, last integer not null, at integer not null, bytes integer not null,
      change text not null, id text not null, tag text not null, body text,
      primary key (feed, last)
    )`.execute(db)
}

/**
 * One row for the changes of one kind that a statement makes. It gets its position at the end of
 * the transaction, which therefore locks the counter of the feed only while it commits, and after
 * all documents.
 */
async function createPostgresEntries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table feed_entries (
      entry bigint generated always as identity primary key,
      feed bigint not null, last bigint, at bigint not null, bytes bigint not null,
      change text not null, count bigint not null,
      ids text[] not null, tags text[] not null, bodies text[],
      unique (feed, last)
    )`.execute(db)
  // Compression would take longer than the change itself.
  await sql`alter table feed_entries alter column bodies set storage external`.execute(db)
  // The row of a feed changes with each commit. Free space keeps its versions on one page.
  await sql`alter table feeds set (fillfactor = 20)`.execute(db)
  await sql`
    create function feed_documents() returns trigger language plpgsql as $$
    begin
      insert into feed_entries (feed, at, bytes, change, count, ids, tags, bodies)
      select feeds.id, extract(epoch from clock_timestamp()) * 1000,
        sum(octet_length(changed.id) + 64 +
          case when tg_op = 'DELETE' then 0 else octet_length(changed.body) end),
        tg_argv[0], count(*), array_agg(changed.id), array_agg(changed.tag),
        array_agg(changed.body) filter (where tg_op <> 'DELETE')
      from changed join feeds
        on feeds.database = changed.database and feeds.collection = changed.collection
      group by feeds.id order by feeds.id;
      return null;
    end $$`.execute(db)
  await sql`
    create function feed_numbers() returns trigger language plpgsql as $$
    declare
      base bigint;
      added record;
    begin
      -- The first entry of a transaction numbers all of the feed.
      select sum(count) as changes, sum(bytes) as bytes into added
      from feed_entries where feed = new.feed and last is null;
      if added.changes is null then return null; end if;
      update feeds set last = last + added.changes, bytes = bytes + added.bytes
      where id = new.feed returning last - added.changes into base;
      if not found then
        delete from feed_entries where feed = new.feed and last is null;
        return null;
      end if;
      update feed_entries set last = base + numbers.upto from (
        select entry, sum(count) over (order by entry) as upto
        from feed_entries where feed = new.feed and last is null
      ) as numbers where feed_entries.entry = numbers.entry;
      perform pg_notify('gatehouse_feed', new.feed::text);
      return null;
    end $$`.execute(db)
  await sql`
    create constraint trigger feed_numbers after insert on feed_entries
    deferrable initially deferred for each row execute function feed_numbers()`.execute(db)
}
