import type { Kysely } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import { Failure } from '../failure.ts'

/**
 * Brings the store to the newest form. Processes that start at once wait for each other: SQLite's
 * write lock and PostgreSQL's advisory lock are held from reading what has run to recording it.
 *
 * @throws Failure `conflict` when a newer Gatehouse has changed the store, `unavailable` when a
 * migration could not run. In both cases nothing has been changed.
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
      `This store was last used by a newer Gatehouse (it has "${unknown}"). Start that version or a newer one.`,
      { cause: error },
    )
  }
  throw new Failure('unavailable', 'The store could not be brought to its newest form.', {
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
    // The first error says more than this one.
    .catch(() => [])
  return rows.find(({ name }) => !(name in migrations))?.name
}
