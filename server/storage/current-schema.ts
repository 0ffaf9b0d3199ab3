import { type Kysely, sql } from 'kysely'
import type { CollectionRef } from './document-ref.ts'
import type { EngineName } from './engine.ts'
import type { Tables } from './tables.ts'

/**
 * Locks the schema of a collection until the transaction ends. A transaction that writes a schema
 * takes an exclusive lock after its statement. A transaction that stores documents takes a shared
 * lock before it reads the schema. Either the schema change waits for the documents to commit, or
 * the document write sees the new schema. SQLite needs no lock because it runs one write
 * transaction at a time.
 */
export async function lockSchema(
  trx: Kysely<Tables>,
  engine: EngineName,
  { database, collection }: CollectionRef,
  mode: 'exclusive' | 'shared',
): Promise<void> {
  if (engine === 'sqlite') return
  const lock = mode === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`
  const key = `${database}/${collection}`
  await sql`select ${lock}(hashtext('schemas'), hashtext(${key}))`.execute(trx)
}

/** How often documents are validated again after schema changes before their change fails. */
export const SCHEMA_CHANGES = 5

/** Thrown if the schema of a collection has changed since documents were validated by it. */
export class SchemaChanged extends Error {}

/**
 * Checks that the schema of a collection still has a tag, null for no schema and undefined if it is
 * unknown. The schema then cannot change until the transaction ends. Call it after the statements
 * that store the documents, so that the lock is not held while they wait for other transactions.
 *
 * @throws SchemaChanged
 */
export async function requireSchema(
  trx: Kysely<Tables>,
  engine: EngineName,
  where: CollectionRef,
  tag: string | null | undefined,
): Promise<void> {
  await lockSchema(trx, engine, where, 'shared')
  const row = await trx
    .selectFrom('schemas')
    .select('tag')
    .where('database', '=', where.database)
    .where('collection', '=', where.collection)
    .executeTakeFirst()
  if ((row?.tag ?? null) !== tag) throw new SchemaChanged()
}
