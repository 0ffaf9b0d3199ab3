import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, onTestFinished } from 'vitest'
import type { EngineName } from '../engine.ts'
import type { StoreLocation } from '../open.ts'
import { openSqlite } from '../sqlite/open-sqlite.ts'
import type { Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { makeDatabase, type TestEngine } from '../test-support/each-engine.testing.ts'
import { createBackup } from './create-backup.ts'
import type { Manifest } from './manifest.ts'
import { restore } from './restore.ts'

/** A folder for a backup, new for each test. */
export interface BackupFixture {
  /** A temporary folder. */
  readonly parent: string
  /** The folder of the backup in {@link parent}, which does not exist yet. */
  readonly folder: string
  /** Creates a restore target for each engine. */
  readonly targets: Record<EngineName, () => Promise<StoreLocation>>
  create(location: StoreLocation, keys?: ('operator.key' | 'secret.key')[]): Promise<Manifest>
  /** Stores keys beside an empty database, and backs up both. Returns the data folder. */
  createWithKeys(engine: TestEngine): Promise<string>
  restoreTo(location: StoreLocation): Promise<Manifest>
}

/** Returns a {@link BackupFixture} and registers the hooks that set it up and remove it. */
export function createBackupFixture(): BackupFixture {
  let parent = ''
  let folder = ''
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'))
    folder = join(parent, 'backup')
  })
  afterEach(() => rmSync(parent, { recursive: true }))

  const create: BackupFixture['create'] = (location, keys = []) =>
    createBackup({ location, folder, keys, version: '1.2.3' })
  return {
    get parent() {
      return parent
    },
    get folder() {
      return folder
    },
    targets: {
      sqlite: async () => ({ data: join(parent, 'restored') }),
      async postgres() {
        const database = await makeDatabase({ empty: true })
        onTestFinished(() => database.remove())
        return database.location
      },
    },
    create,
    async createWithKeys(engine) {
      const location = engine.location()
      const data = 'data' in location ? location.data : ''
      const store = await engine.open()
      await store.close()
      writeFileSync(join(data, 'operator.key'), 'the operator key\n')
      writeFileSync(join(data, 'secret.key'), 'the secret key\n')
      await create({ data }, ['operator.key', 'secret.key'])
      return data
    },
    restoreTo: (location) => restore({ location, folder, record: async () => {} }),
  }
}

/** Hash of a session, which no backup contains. */
export const SESSION = 'the-hash-of-a-session'

/** Texts that formats and encodings tend to alter. */
const TEXTS = ['', '\\N', '\t\n\r"\'\\', 'NULL', 'a\u0301 \u{1F600} \uFFFF', 'x'.repeat(3_000_000)]

/** Stores a row of every kind that a backup contains, and of some that it omits. */
export async function fill({ db }: Store): Promise<void> {
  await db
    .insertInto('databases')
    .values({ name: 'blog', created_at: 2 ** 52, id: 'b' })
    .execute()
  const key = { database: 'b', collection: 'things' }
  const documents = TEXTS.map((body, at) => ({ ...key, id: `${at}${body.slice(0, 9)}`, body }))
  for (const each of documents) {
    await db
      .insertInto('documents')
      .values({ ...each, tag: 't' })
      .execute()
  }
  const many = Array.from({ length: 1_200 }, (_, at) => ({
    ...key,
    id: `m${at}`,
    tag: '',
    body: '',
  }))
  for (let at = 0; at < many.length; at += 100) {
    await db
      .insertInto('documents')
      .values(many.slice(at, at + 100))
      .execute()
  }
  await db
    .insertInto('schemas')
    .values({ ...key, tag: 's', body: '{}' })
    .execute()
  await db
    .insertInto('people')
    .values({
      id: 'p',
      provider: 'github',
      issuer: 'i',
      subject: '1',
      username: 'github:1',
      name: null,
      role: 'admin',
      created_at: 5,
      last_sign_in_at: null,
      access_token: 'sealed',
    })
    .execute()
  await db
    .insertInto('tokens')
    .values({
      id: 't',
      name: 'ci',
      prefix: 'abc',
      hash: 'h',
      owner_id: 'p',
      role: 'viewer',
      databases: '["blog"]',
      created_at: 1,
      expires_at: null,
      last_used_at: null,
    })
    .execute()
  await db
    .insertInto('sessions')
    .values({
      hash: SESSION,
      id: 's',
      person_id: 'p',
      created_at: 1,
      last_seen_at: 1,
      expires_at: 2,
      address: null,
      user_agent: null,
      operator_key: null,
      access_token: null,
    })
    .execute()
  await db
    .insertInto('endpoints')
    .values({ address: 'tcp://127.0.0.1:8530', databases: '["blog"]', revision: 1 })
    .execute()
  await db
    .insertInto('jobs')
    .values({
      id: 'j',
      ...key,
      kind: 'create',
      state: 'running',
      request: '{}',
      cursor: null,
      done: 1,
      total: 2,
      found: 1,
      failure: null,
      clean: 0,
      claimed_by: 'x',
      claimed_until: 2 ** 52,
      created_at: 1,
      updated_at: 1,
    })
    .execute()
  await db
    .insertInto('job_documents')
    .values({ job: 'j', id: '1', seen: 's', tag: 't', body: 'b' })
    .execute()
  await db.insertInto('settings').values({ name: 'instance', value: '0f' }).execute()
  await db.insertInto('failures').values({ key: 'k', count: 1, expires_at: 1 }).execute()
}

/** Runs work on the database of a store without running pending migrations. */
export async function withDatabase<T>(
  location: StoreLocation,
  work: (db: Kysely<{ kysely_migration: { name: string } }>) => Promise<T>,
): Promise<T> {
  if ('data' in location) {
    const { dialect, close } = await openSqlite(location.data, 'tool', () => {})
    return work(new Kysely({ dialect })).finally(close)
  }
  const pool = new pg.Pool({ connectionString: location.databaseUrl })
  return work(new Kysely({ dialect: new PostgresDialect({ pool }) })).finally(() => pool.end())
}

/** Returns all rows of all tables, sorted independently of the engine. */
export async function everything({ db }: Store): Promise<Record<string, string[]>> {
  const tables = await db.introspection.getTables()
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await db
        .selectFrom(name as keyof Tables)
        .selectAll()
        .execute()
      const texts = rows.map((row) => JSON.stringify(Object.entries(row).sort()))
      return [name, texts.sort()] as const
    }),
  )
  return Object.fromEntries(found.sort())
}
