import { DatabaseSync } from 'node:sqlite'
import { Failure } from '../../failure.ts'
import { countRows, lastMigration, migrationsOf, tablesOf } from './tables.ts'

/** Description of the store in the manifest of a backup. */
export interface StoreContents {
  readonly migration: string
  readonly tables: Record<string, number>
}

/**
 * Verifies the integrity of the database file of a backup, and returns a description of it.
 *
 * @throws Failure `invalid` if it is damaged.
 */
export function checkStore(path: string): StoreContents {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    for (const pragma of ['integrity_check(1)', 'foreign_key_check']) {
      const [found] = db.prepare(`pragma ${pragma}`).all()
      if (found === undefined || found.integrity_check === 'ok') continue
      const what = Object.values(found).join(' ')
      throw new Failure('invalid', `The database ${path} is damaged: ${what}.`)
    }
    const tables = tablesOf(db)
    return {
      migration: lastMigration(migrationsOf(db), `The database ${path}`),
      tables: countRows(db, tables),
    }
  } finally {
    db.close()
  }
}
