import { sql } from 'kysely'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { beginChange } from '../../storage/changes/begin-change.ts'
import type { OnTargetRecord } from '../../storage/changes/recorder.ts'
import { lockSchema } from '../../storage/current-schema.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { databaseExists, requireDatabase } from '../../storage/sql/database-exists.ts'
import type { Store } from '../../storage/store.ts'
import { createEntityTag } from '../document.ts'

/** A stored JSON Schema and the tag of this state. */
export interface StoredSchema {
  readonly tag: string
  readonly body: string
}

/** The JSON Schemas of a store. Every change is durable when its promise resolves. */
export interface SchemaRepository {
  read(where: CollectionRef): Promise<StoredSchema | undefined>
  /** Returns only the tag. */
  tag(where: CollectionRef): Promise<string | undefined>
  /** Returns the tag of every schema, with its collection. */
  tags(): Promise<(CollectionRef & Pick<StoredSchema, 'tag'>)[]>
  /**
   * Stores a schema in place of the state `seen`, or creates it if that is undefined, and audits it.
   *
   * @returns the new tag, or undefined if the state has changed.
   * @throws Failure `database-not-found` if the database was dropped.
   */
  put(
    where: CollectionRef,
    seen: StoredSchema | undefined,
    body: string,
    on: OnTargetRecord,
  ): Promise<string | undefined>
  /**
   * Deletes the state `seen` and audits it; returns false if it has changed.
   *
   * @throws Failure `database-not-found` if the database was dropped.
   */
  delete(where: CollectionRef, seen: StoredSchema, on: OnTargetRecord): Promise<boolean>
  /** Deletes the schemas of dropped databases. */
  purge(): Promise<void>
}

export function createSchemaRepository(store: Store): SchemaRepository {
  const { db, engine, change } = store
  const tagOf = store.prepareLookup<Pick<StoredSchema, 'tag'>>(
    db
      .selectFrom('schemas')
      .select('tag')
      .where('database', '=', '')
      .where('collection', '=', '')
      .compile(),
  )
  return {
    read({ database, collection }) {
      return db
        .selectFrom('schemas')
        .select(['tag', 'body'])
        .where('database', '=', database)
        .where('collection', '=', collection)
        .executeTakeFirst()
    },
    async tag({ database, collection }) {
      const { rows } = await tagOf(database, collection)
      return rows[0]?.tag
    },
    tags() {
      return db.selectFrom('schemas').select(['database', 'collection', 'tag']).execute()
    },
    async put({ database, collection }, seen, body, { record, actor, target }) {
      const tag = createEntityTag()
      const statement =
        seen === undefined
          ? sql`
              insert into schemas (database, collection, tag, body)
              select ${database}, ${collection}, ${tag}, ${body} where ${databaseExists(database)}
              on conflict do nothing`
          : sql`
              update schemas set tag = ${tag}, body = ${body}
              where database = ${database} and collection = ${collection} and tag = ${seen.tag}
              and ${databaseExists(database)}`
      const isStored = await change(async (trx) => {
        const { numAffectedRows } = await statement.execute(trx)
        if (numAffectedRows === 0n) return false
        await lockSchema(trx, engine, { database, collection }, 'exclusive')
        await beginChange(trx, actor)
        await record(trx, {
          actor,
          action: 'schema.set',
          target,
          outcome: 'done',
          before: seen === undefined ? null : parseJson(seen.body),
          after: parseJson(body),
        })
        return true
      })
      if (isStored) return tag
      await requireDatabase(db, database)
      return undefined
    },
    async delete({ database, collection }, seen, { record, actor, target }) {
      const isDeleted = await change(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('schemas')
          .where('database', '=', database)
          .where('collection', '=', collection)
          .where('tag', '=', seen.tag)
          .where(databaseExists(database))
          .executeTakeFirst()
        if (numDeletedRows === 0n) return false
        await beginChange(trx, actor)
        await record(trx, {
          actor,
          action: 'schema.delete',
          target,
          outcome: 'done',
          before: parseJson(seen.body),
          after: null,
        })
        return true
      })
      if (isDeleted) return true
      await requireDatabase(db, database)
      return false
    },
    async purge() {
      // In one statement, so that a database created concurrently by another node keeps its
      // schemas.
      await db
        .deleteFrom('schemas')
        .where('database', '!=', SYSTEM_DATABASE)
        .where('database', 'not in', db.selectFrom('databases').select('id'))
        .execute()
    },
  }
}
