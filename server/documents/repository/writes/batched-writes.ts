import { sql } from 'kysely'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import { databaseExists } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import { entriesOf, entryKeysOf } from '../../indexes/write/entries.ts'
import { type IndexedWrites, idsOf, maintainedIds } from './single-changes.ts'

/**
 * Returns the writes of a PostgreSQL store. The writes of concurrent requests are one statement: it
 * first writes the documents, each if its conditions are met, and then their entries.
 *
 * The search for duplicates in unique indexes avoids errors, which divide the batch. Duplicates of
 * other transactions, and in the batch, are errors. The statements find the `ctid` of entries by
 * subqueries, because joins would be planned from statistics.
 */
export function createBatchedWrites(
  { db }: Store,
  prepareChange: NonNullable<Store['prepareChange']>,
): Required<IndexedWrites> {
  const database = sql.raw<string>('document.database')
  const exists = databaseExists(database).compile(db).sql
  const maintained = maintainedIds(database, sql.raw('document.collection')).compile(db).sql
  const isWritable = `${exists} and ${maintained} = document.indexes`
  const isState = `documents.database = document.database
    and documents.collection = document.collection
    and documents.id = document.id and documents.tag = document.tag`
  const state = ['database', 'collection', 'id', 'tag']
  const insert = prepareChange({
    name: 'insert-indexed-document',
    columns: [...state, 'body', 'indexes', 'keys', 'unique_keys'],
    key: 'tag',
    sql: (input) => `
      with document as (
        select database, collection, id, tag, body, indexes,
          string_to_array(indexes, ',')::bigint[] as index_ids, keys::bytea[] as keys,
          unique_keys::bytea[] as unique_keys
        from ${input}
      ), stored as (
        insert into documents (database, collection, id, tag, body)
        select database, collection, id, tag, body from document
        where ${isWritable} and not exists (
          select 1
          from unnest(document.index_ids, document.unique_keys) as entry (index_id, unique_key)
          where (
            select true from index_entries as other
            where other.index_id = entry.index_id and other.sole = entry.unique_key))
        on conflict do nothing returning tag
      ), stored_tags as materialized (
        select array_agg(tag) as tags from stored
      ), added as (
        insert into index_entries (index_id, key, id, sole)
        select entry.index_id, entry.key, document.id, entry.unique_key
        from stored_tags, document, lateral array_position(tags, document.tag) as position,
          unnest(document.index_ids, document.keys, document.unique_keys)
            as entry (index_id, key, unique_key)
        where position is not null
        order by entry.index_id, coalesce(entry.unique_key, entry.key)
      )
      select tag from stored`,
  })
  const update = prepareChange({
    name: 'update-indexed-document',
    columns: [...state, 'next', 'body', 'indexes', 'old_keys', 'keys', 'unique_keys'],
    key: 'next',
    // An entry that stays the same is not written.
    sql: (input) => `
      with document as (
        select database, collection, id, tag, next, body, indexes,
          string_to_array(indexes, ',')::bigint[] as index_ids, old_keys::bytea[] as old_keys,
          keys::bytea[] as keys, unique_keys::bytea[] as unique_keys
        from ${input}
      ), stored as (
        update documents set tag = document.next, body = document.body
        from document where ${isState} and ${isWritable} and not exists (
          select 1
          from unnest(document.index_ids, document.unique_keys) as entry (index_id, unique_key)
          where (
            select other.id <> document.id from index_entries as other
            where other.index_id = entry.index_id and other.sole = entry.unique_key))
        returning documents.tag
      ), stored_tags as materialized (
        select array_agg(tag) as tags from stored
      ), moved as (
        update index_entries
        set key = entry.key, sole = entry.unique_key
        from (
          select entry.key, entry.unique_key, (
            select own.ctid from index_entries as own
            where own.index_id = entry.index_id and own.key = entry.old_key and own.id = document.id
          ) as own_ctid
          from stored_tags, document, lateral array_position(tags, document.next) as position,
            unnest(document.index_ids, document.old_keys, document.keys, document.unique_keys)
              as entry (index_id, old_key, key, unique_key)
          where position is not null
          order by entry.index_id, coalesce(entry.unique_key, entry.key)
        ) as entry
        where index_entries.ctid = entry.own_ctid
        and (index_entries.key, index_entries.sole) is distinct from (entry.key, entry.unique_key)
      )
      select tag from stored`,
  })
  const remove = prepareChange({
    name: 'delete-indexed-document',
    columns: [...state, 'indexes', 'keys'],
    key: 'tag',
    sql: (input) => `
      with document as (
        select database, collection, id, tag, indexes,
          string_to_array(indexes, ',')::bigint[] as index_ids, keys::bytea[] as keys
        from ${input}
      ), deleted as (
        delete from documents using document where ${isState} and ${isWritable}
        returning documents.tag
      ), deleted_tags as materialized (
        select array_agg(tag) as tags from deleted
      ), entries as (
        delete from index_entries where ctid = any(array(
          select (
            select own.ctid from index_entries as own
            where own.index_id = entry.index_id and own.key = entry.key and own.id = document.id)
          from deleted_tags, document, unnest(document.index_ids, document.keys) as entry (index_id, key)
          where array_position(deleted_tags.tags, document.tag) is not null))
      )
      select tag from deleted`,
  })
  return {
    insert({ database, collection }, document, indexes, isStored) {
      const { id, tag, body } = document
      const entries = [...entriesOf(indexes, document)]
      return resolveOutcome(
        insert(
          ...[database, collection, id, tag, body],
          ...[idsOf(indexes), keysOf(entries), uniqueKeysOf(entries)],
        ),
        async () => (await isStored()) || undefined,
      )
    },
    update({ database, collection, id }, old, next, indexes) {
      const entries = [...entriesOf(indexes, { id, body: next.body })]
      const oldKeys = keysOf([...entryKeysOf(indexes, { id, body: old.body })])
      return update(
        ...[database, collection, id, old.tag, next.tag, next.body],
        ...[idsOf(indexes), oldKeys, keysOf(entries), uniqueKeysOf(entries)],
      )
    },
    delete({ database, collection, id }, { tag, body }, indexes) {
      const keys = keysOf([...entryKeysOf(indexes, { id, body })])
      return remove(database, collection, id, tag, idsOf(indexes), keys)
    },
  }
}

/** Returns the keys of entries as an array of PostgreSQL. */
const keysOf = (entries: readonly { readonly key: Buffer }[]) =>
  toArray(entries.map(({ key }) => toBytea(key)))

/** Returns the hashes of entries in unique indexes as an array of PostgreSQL. */
const uniqueKeysOf = (entries: readonly { readonly uniqueKey: Buffer | null }[]) =>
  toArray(entries.map(({ uniqueKey }) => (uniqueKey === null ? null : toBytea(uniqueKey))))

/** Returns an array of PostgreSQL as text. No value needs quotes. */
const toArray = (values: readonly (string | null)[]) =>
  `{${values.map((value) => value ?? 'NULL').join()}}`

/** Returns bytes as text in an array, where the backslash of `\x` is escaped. */
const toBytea = (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`
