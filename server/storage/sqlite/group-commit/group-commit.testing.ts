import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach } from 'vitest'
import type { Store } from '../../store.ts'
import type { Tables } from '../../tables.ts'
import type { TestEngine } from '../../test-support/each-engine.testing.ts'

/** A store on SQLite, and a second connection to its database. New for each test. */
export function createCommitFixture(engine: TestEngine) {
  let store: Store
  let outside: DatabaseSync
  beforeEach(async () => {
    store = await engine.open()
    outside = new DatabaseSync(fileOf(engine), { timeout: 0 })
  })
  afterEach(() => {
    outside.close()
  })

  return {
    get db() {
      return store.db
    },
    get transaction() {
      return store.transaction
    },
    get outside() {
      return outside
    },
    insert: (name: string) =>
      store.db.insertInto('databases').values({ name, created_at: 0 }).execute(),
    /** Returns the committed names, as another process reads them. */
    committed: (): string[] =>
      outside
        .prepare('select name from databases order by name')
        .all()
        .map(({ name }) => String(name)),
  }
}

/** Returns the path of the database. */
export function fileOf(engine: TestEngine): string {
  return join((engine.location() as { data: string }).data, 'gatehouse.sqlite')
}

/** Creates two tables with a foreign key that is only checked at COMMIT. */
export async function createDeferred(db: Kysely<Tables>): Promise<void> {
  await sql`create table parent (id integer primary key)`.execute(db)
  await sql`create table child (
    parent integer references parent (id) deferrable initially deferred
  )`.execute(db)
}

/**
 * Counts the commits in the write-ahead log: the frames that contain the size of the database
 * (https://sqlite.org/fileformat2.html#walformat).
 */
export function countCommits(engine: TestEngine): number {
  const log = readFileSync(`${fileOf(engine)}-wal`)
  const frame = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) {
    if (log.readUInt32BE(at + 4) > 0) commits++
  }
  return commits
}
