import type { Kysely } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { Failure } from '../failure.ts'
import type { Engine } from './engine.ts'

/**
 * Migrates the store to the newest schema. Concurrent migrations wait for each other, because the
 * migrator holds SQLite's write lock or PostgreSQL's advisory lock throughout.
 *
 * @param afterMigrations see `Engine.afterMigrations`.
 * @throws Failure `conflict` if a newer Gatehouse has changed the store, `unavailable` if a
 * migration fails. The store is unchanged in both cases.
 */
export async function migrate<T>(
  db: Kysely<T>,
  migrations: Record<string, Migration>,
  afterMigrations?: Engine['afterMigrations'],
): Promise<void> {
  if (!db.isTransaction && (await isCurrent(db, migrations, afterMigrations))) return
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  if (error instanceof Failure) throw error
  const unknown = (await storedNames(db)).find((name) => !(name in migrations))
  if (unknown !== undefined) {
    throw new Failure(
      'conflict',
      `This database was last used by a newer version of Gatehouse (it has the migration "${unknown}"). Start that version or a newer one.`,
      { cause: error },
    )
  }
  const reason = error instanceof Error ? error.message : String(error)
  throw new Failure('unavailable', `The database could not be migrated: ${reason}.`, {
    cause: error,
  })
}

/**
 * Whether the store has run exactly these migrations. The migrator would read the columns of all
 * tables twice to find that out, which takes most of the time of opening a store. Not for a
 * transaction, which PostgreSQL aborts if the table does not exist.
 */
async function isCurrent<T>(...[db, migrations, afterMigrations]: Parameters<typeof migrate<T>>) {
  const stored = await storedNames(db, afterMigrations)
  return (
    stored.length === Object.keys(migrations).length && stored.every((name) => name in migrations)
  )
}

/** Returns the names of the migrations that the store has run; none if they cannot be read. */
async function storedNames<T>(
  db: Kysely<T>,
  execute: Engine['afterMigrations'] = (query) => db.executeQuery(query),
): Promise<string[]> {
  const query = (db as unknown as Kysely<Record<string, { name: string }>>)
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
    .orderBy('name')
    .compile()
  // The store is new, or unavailable, which the migrator reports.
  const { rows } = await execute(query).catch(() => ({ rows: [] }))
  return rows.map(({ name }) => name)
}
