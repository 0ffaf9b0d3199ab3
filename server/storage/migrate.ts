import type { Kysely } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { Failure } from '../failure.ts'

/**
 * Migrates the store to the newest schema. Concurrent processes wait for each other, because the
 * migrator holds SQLite's write lock or PostgreSQL's advisory lock throughout.
 *
 * @throws Failure `conflict` if a newer Gatehouse has changed the store, `unavailable` if a
 * migration fails. The store is unchanged in both cases.
 */
export async function migrate<T>(
  db: Kysely<T>,
  migrations: Record<string, Migration>,
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  if (error instanceof Failure) throw error
  const unknown = await firstUnknown(db, migrations)
  if (unknown !== undefined) {
    throw new Failure(
      'conflict',
      `This database was last used by a newer version of Gatehouse (it has the migration "${unknown}"). Start that version or a newer one.`,
      { cause: error },
    )
  }
  throw new Failure('unavailable', 'The database could not be migrated.', {
    cause: error,
  })
}

async function firstUnknown<T>(
  db: Kysely<T>,
  migrations: Record<string, Migration>,
): Promise<string | undefined> {
  const rows = await (db as unknown as Kysely<Record<string, { name: string }>>)
    .selectFrom(DEFAULT_MIGRATION_TABLE)
    .select('name')
    .orderBy('name')
    .execute()
    // The error of the migration is reported instead.
    .catch(() => [])
  return rows.find(({ name }) => !(name in migrations))?.name
}
