import { sql } from 'kysely'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { databaseExists, requireDatabase } from '../storage/database-exists.ts'
import type { Store } from '../storage/open.ts'
import { createEntityTag } from './entity-tag.ts'
import type { Place } from './repository.ts'

/** A collection: the id of its database, and its name. */
type Where = Pick<Place, 'database' | 'collection'>

/** A JSON Schema as it is stored, and the tag of this state. */
export interface StoredSchema {
  readonly tag: string
  readonly body: string
}

/** The JSON Schemas of a store. Every change is durable when it resolves. */
export interface SchemaRepository {
  read(where: Where): Promise<StoredSchema | undefined>
  /** The tag alone. */
  tag(where: Where): Promise<string | undefined>
  /** The tag of every schema, with its collection. */
  tags(): Promise<(Where & Pick<StoredSchema, 'tag'>)[]>
  /**
   * Puts a schema in the place of the state with that tag, or of none.
   *
   * @returns its tag; undefined where the state has moved on.
   * @throws Failure `database-not-found` where the database was dropped.
   */
  put(where: Where, seen: string | undefined, body: string): Promise<string | undefined>
  /**
   * Deletes the state with that tag; false where it has moved on.
   *
   * @throws Failure `database-not-found` where the database was dropped.
   */
  delete(where: Where, tag: string): Promise<boolean>
  /** Deletes the schemas of databases that were dropped. */
  purge(): Promise<void>
}

/** Makes a {@link SchemaRepository}. */
export function createSchemaRepository({ db }: Store): SchemaRepository {
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
      const row = await db
        .selectFrom('schemas')
        .select('tag')
        .where('database', '=', database)
        .where('collection', '=', collection)
        .executeTakeFirst()
      return row?.tag
    },
    tags() {
      return db.selectFrom('schemas').select(['database', 'collection', 'tag']).execute()
    },
    async put({ database, collection }, seen, body) {
      const tag = createEntityTag()
      const change =
        seen === undefined
          ? sql`
              insert into schemas (database, collection, tag, body)
              select ${database}, ${collection}, ${tag}, ${body} where ${databaseExists(database)}
              on conflict do nothing`
          : sql`
              update schemas set tag = ${tag}, body = ${body}
              where database = ${database} and collection = ${collection} and tag = ${seen}
              and ${databaseExists(database)}`
      const { numAffectedRows } = await change.execute(db)
      if (numAffectedRows !== 0n) return tag
      await requireDatabase(db, database)
      return undefined
    },
    async delete({ database, collection }, tag) {
      const { numDeletedRows } = await db
        .deleteFrom('schemas')
        .where('database', '=', database)
        .where('collection', '=', collection)
        .where('tag', '=', tag)
        .where(databaseExists(database))
        .executeTakeFirst()
      if (numDeletedRows > 0n) return true
      await requireDatabase(db, database)
      return false
    },
    async purge() {
      // In one statement: a database that another node creates meanwhile is seen with its schemas.
      await db
        .deleteFrom('schemas')
        .where('database', '!=', SYSTEM_DATABASE)
        .where('database', 'not in', db.selectFrom('databases').select('id'))
        .execute()
    },
  }
}
