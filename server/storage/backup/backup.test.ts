import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { WAIT } from '../../test-support/wait.testing.ts'
import type { EngineName } from '../engine.ts'
import { migrate } from '../migrate.ts'
import { allMigrations } from '../migrations/all-migrations.ts'
import { openStore, type StoreLocation } from '../open.ts'
import { openSqlite } from '../sqlite/open-sqlite.ts'
import type { Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { forEachEngine, forEngine, makeDatabase } from '../test-support/each-engine.testing.ts'
import { createBackup } from './create-backup.ts'
import { restore } from './restore.ts'
import { migrationsUpTo, TRANSIENT_TABLES } from './tables.ts'

let parent: string
let folder: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'))
  folder = join(parent, 'backup')
})
afterEach(() => rmSync(parent, { recursive: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const createBackupFrom = (location: StoreLocation, keys: ('operator.key' | 'secret.key')[] = []) =>
  createBackup({ location, folder, keys, version: '1.2.3' })
const restoreTo = (location: StoreLocation) => restore({ location, folder, record: async () => {} })

/** Creates a restore target for each engine. */
const targets: Record<EngineName, () => Promise<StoreLocation>> = {
  sqlite: async () => ({ data: join(parent, 'restored') }),
  async postgres() {
    const database = await makeDatabase({ empty: true })
    onTestFinished(() => database.remove())
    return database.location
  },
}

/** Hash of a session, which no backup contains. */
const SESSION = 'the-hash-of-a-session'

/** Texts that formats and encodings tend to alter. */
const TEXTS = ['', '\\N', '\t\n\r"\'\\', 'NULL', 'a\u0301 \u{1F600} \uFFFF', 'x'.repeat(3_000_000)]

async function fill({ db }: Store): Promise<void> {
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
async function withDatabase<T>(
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
async function everything({ db }: Store): Promise<Record<string, string[]>> {
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

/** Stores documents d1 to d5 and a committed job that has written d1 to d3. */
async function storeApplying({ db }: Store, kind: string): Promise<void> {
  const ids = ['d1', 'd2', 'd3', 'd4', 'd5']
  const where = { database: '_system', collection: kind }
  const at = { updated_at: 1, created_at: 1, claimed_by: 'n', claimed_until: 0 }
  await db
    .insertInto('jobs')
    .values({
      ...{ ...where, ...at, id: kind, kind, state: 'applying', request: '{"filter":[]}' },
      ...{ cursor: 'd2', done: 5, total: 5, found: 5, failure: null, clean: 0 },
    })
    .execute()
  const isDeletion = kind === 'delete'
  const taken = { tag: isDeletion ? '' : 'new', body: isDeletion ? '' : '{"new":true}' }
  const stored = kind === 'create' ? [] : ids.slice(2)
  for (const id of ids) {
    // A request has changed d3 after the job was committed.
    const seen = id === 'd3' ? '*' : 'old'
    await db
      .insertInto('job_documents')
      .values({ ...taken, job: kind, id, seen })
      .execute()
  }
  for (const id of new Set(['d3', ...stored])) {
    const body = id === 'd3' ? '{"later":true}' : '{}'
    await db
      .insertInto('documents')
      .values({ ...where, id, tag: 'old', body })
      .execute()
  }
}

forEngine('sqlite', (engine) => {
  test.each(['sqlite', 'postgres'] as const)(
    'a backup for %s contains what committed jobs have not yet written',
    async (name) => {
      const store = await engine.open()
      for (const kind of ['create', 'patch', 'delete']) await storeApplying(store, kind)
      await createBackupFrom(engine.location())
      const location = await targets[name]()
      await restoreTo(location)
      const restored = await openStore(location, 'tool')
      const { db } = restored
      const rows = await db.selectFrom('documents').select(['collection', 'id', 'body']).execute()
      const [later, made] = ['{"later":true}', '{"new":true}']
      expect(rows.map(({ collection, id, body }) => `${collection} ${id} ${body}`).sort()).toEqual(
        [
          ...[`create d3 ${later}`, `create d4 ${made}`, `create d5 ${made}`],
          ...[`patch d3 ${later}`, `patch d4 ${made}`, `patch d5 ${made}`],
          `delete d3 ${later}`,
        ].sort(),
      )
      const jobs = await db.selectFrom('jobs').select('state').execute()
      expect(jobs.map(({ state }) => state)).toEqual(['done', 'done', 'done'])
      await restored.close()
    },
  )
})

/** Returns the tables that a restore does not adjust. */
const unadjusted = (tables: Record<string, string[]>) =>
  Object.fromEntries(
    Object.entries(tables).filter(
      ([name]) => ![...TRANSIENT_TABLES, 'counters', 'jobs'].includes(name),
    ),
  )

forEachEngine({ empty: true }, (engine) => {
  describe('createBackup', () => {
    test('writes a backup that can be restored into both engines, while a store is open', async () => {
      const store = await engine.open()
      await fill(store)
      const before = await everything(store)
      const manifest = await createBackupFrom(engine.location())
      expect(manifest).toMatchObject({
        engine: engine.name,
        gatehouse: '1.2.3',
        migration: Object.keys(allMigrations(engine.name)).at(-1),
      })
      expect(manifest.tables).toMatchObject({ documents: 1_206, people: 1, sessions: 0 })
      expect(readdirSync(folder).sort()).toEqual(['backup.json', 'store.sqlite'])
      expect(modeOf(folder)).toBe('700')
      for (const name of readdirSync(folder)) expect(modeOf(join(folder, name))).toBe('600')
      // Free pages must not contain it, either.
      expect(readFileSync(join(folder, 'store.sqlite')).includes(SESSION)).toBe(false)

      for (const target of Object.values(targets)) {
        const location = await target()
        await restoreTo(location)
        const restored = await openStore(location, 'tool')
        try {
          const after = await everything(restored)
          expect(unadjusted(after)).toEqual(unadjusted(before))
          for (const name of TRANSIENT_TABLES) expect(after[name]).toEqual([])
        } finally {
          await restored.close()
        }
      }
    })

    test('fails without a store, and leaves nothing behind', async () => {
      await expect(createBackupFrom(engine.location())).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringMatching(/ contains no Gatehouse database\.$/),
      })
      expect(existsSync(folder)).toBe(false)
    })

    test('does not migrate an older store, which a restore then migrates', async () => {
      const last = '0006-nodes'
      const run = await withDatabase(engine.location(), async (db) => {
        await migrate(db, migrationsUpTo(engine.name, last))
        expect((await createBackupFrom(engine.location())).migration).toBe(last)
        return db.selectFrom('kysely_migration').select('name').execute()
      })
      expect(run).toHaveLength(6)
      const location = await targets[engine.name]()
      await restoreTo(location)
      const store = await openStore(location, 'tool')
      expect(await everything(store)).toMatchObject({ jobs: [], audit: [] })
      await store.close()
    })

    test('rejects a store that a newer Gatehouse has changed', async () => {
      const { db } = await engine.open()
      const migrations = { '9999-later': { up: async () => {} }, ...allMigrations(engine.name) }
      await migrate(db, migrations)
      await expect(createBackupFrom(engine.location())).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(
          'was last used by a newer version of Gatehouse (it has the migration "9999-later")',
        ),
      })
    })
  })

  describe('restore', () => {
    beforeEach(async () => {
      const store = await engine.open()
      await fill(store)
      await store.db.updateTable('counters').set({ value: 41 }).execute()
      await store.db
        .insertInto('endpoints')
        .values({ address: 'tcp://127.0.0.1:1', databases: '[]', revision: 2, proposal: '{}' })
        .execute()
      await createBackupFrom(engine.location())
    })

    test.each(['sqlite', 'postgres'] as const)(
      'adjusts data that depends on the time of the restore (%s)',
      async (name) => {
        const location = await targets[name]()
        const begun = Date.now()
        const recorded = vi.fn(async () => {})
        const manifest = await restore({ location, folder, record: recorded })
        expect(recorded).toHaveBeenCalledExactlyOnceWith(expect.anything(), manifest)
        const { db, close } = await openStore(location, 'tool')
        const { value } = await db.selectFrom('counters').select('value').executeTakeFirstOrThrow()
        expect(value).toBeGreaterThanOrEqual(begun)
        const jobs = await db.selectFrom('jobs').select(['id', 'claimed_until']).execute()
        expect(jobs).toEqual([{ id: 'j', claimed_until: 0 }])
        const endpoints = await db.selectFrom('endpoints').select('address').execute()
        expect(endpoints).toEqual([{ address: 'tcp://127.0.0.1:8530' }])
        await close()
      },
    )

    test.each(['sqlite', 'postgres'] as const)('that fails can be repeated (%s)', async (name) => {
      const location = await targets[name]()
      const record = async () => {
        throw new Error('on purpose')
      }
      await expect(restore({ location, folder, record })).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The backup could not be restored: on purpose.',
      })
      await restoreTo(location)
      const { db, close } = await openStore(location, 'tool')
      const people = await db.selectFrom('people').select('id').execute()
      expect(people).toEqual([{ id: 'p' }])
      await close()
    })

    test('rejects a store that is not empty, and changes nothing', async () => {
      const location = engine.location()
      await expect(restoreTo(location)).rejects.toMatchObject({
        code: 'conflict',
        message:
          'data' in location
            ? expect.stringContaining('Another Gatehouse is using the data folder')
            : expect.stringMatching(
                /^The database .* is not empty \(audit, .*requires a new, empty database/,
              ),
      })
      const store = await engine.open('tool')
      const { value } = await store.db.selectFrom('counters').selectAll().executeTakeFirstOrThrow()
      expect(value).toBe(41)
    })
  })
})

forEngine('postgres', (engine) => {
  test('a backup whose connection breaks leaves nothing behind', async () => {
    await engine.open()
    await withDatabase(engine.location(), async (db) => {
      const locks = await db.startTransaction().execute()
      await sql`lock table documents`.execute(locks)
      const failed = expect(createBackupFrom(engine.location())).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('The backup could not be made: '),
      })
      await vi.waitFor(async () => {
        const ended = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`.execute(db)
        expect(ended.rows).toHaveLength(1)
      }, WAIT)
      await failed
      await locks.rollback().execute()
    })
    expect(existsSync(folder)).toBe(false)
  })

  test('tables of an extension do not count as data', async () => {
    const location = await targets.postgres()
    await withDatabase(location, (db) => sql`create extension pg_buffercache`.execute(db))
    const source = await targets.sqlite()
    await (await openStore(source, 'tool')).close()
    await createBackupFrom(source)
    await restoreTo(location)
  })
})

forEngine('sqlite', (engine) => {
  let data: string
  let target: string
  beforeEach(async () => {
    const location = engine.location()
    data = 'data' in location ? location.data : ''
    target = join(parent, 'restored')
    const store = await engine.open()
    await store.close()
    writeFileSync(join(data, 'operator.key'), 'the operator key\n')
    writeFileSync(join(data, 'secret.key'), 'the secret key\n')
    await createBackupFrom({ data }, ['operator.key', 'secret.key'])
  })

  describe('the folder of a backup', () => {
    test('may be empty, and is rejected otherwise', async () => {
      rmSync(folder, { recursive: true })
      mkdirSync(folder)
      await createBackupFrom({ data })
      await expect(createBackupFrom({ data })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('is not empty (backup.json, store.sqlite)'),
      })
      expect(readdirSync(folder)).toHaveLength(2)
    })

    test('is rejected if it is a file', async () => {
      rmSync(folder, { recursive: true })
      writeFileSync(folder, '')
      await expect(createBackupFrom({ data })).rejects.toMatchObject({
        code: 'conflict',
        message: `${folder} is not a folder.`,
      })
    })
  })

  describe('a damaged backup', () => {
    const path = (name: string) => join(folder, name)
    const expectRefused = async (code: string, message: string) => {
      await expect(restoreTo({ data: target })).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      })
      expect(existsSync(target)).toBe(false)
    }

    test.each(['store.sqlite', 'operator.key', 'secret.key'])(
      'is rejected if a byte of %s has changed',
      async (name) => {
        const content = readFileSync(path(name))
        const at = Math.floor(content.length / 2)
        content[at] = (content[at] ?? 0) ^ 1
        writeFileSync(path(name), content)
        await expectRefused('invalid', `${path(name)} does not match its checksum`)
      },
    )

    test('is rejected if a file is missing', async () => {
      rmSync(path('secret.key'))
      await expectRefused('unavailable', 'ENOENT')
    })

    test('is rejected without a manifest, as if it had been interrupted', async () => {
      rmSync(path('backup.json'))
      await expectRefused('not-found', 'does not contain a complete backup: backup.json is missing')
    })

    test.each([
      ['', 'cannot be parsed'],
      ['{"format": 1}', 'cannot be parsed'],
      ['{"format": 2}', 'was made by a newer version of Gatehouse'],
    ])('is rejected with the manifest %j', async (text, message) => {
      writeFileSync(path('backup.json'), text)
      await expectRefused(text.includes('2') ? 'conflict' : 'invalid', message)
    })

    test('is rejected if the manifest has other row counts', async () => {
      const manifest = JSON.parse(readFileSync(path('backup.json'), 'utf8'))
      manifest.tables.documents++
      writeFileSync(path('backup.json'), JSON.stringify(manifest))
      await expectRefused('invalid', 'backup.json does not match store.sqlite')
    })

    test('is not created from a damaged database', async () => {
      const content = readFileSync(join(data, 'gatehouse.sqlite'))
      content.fill(0x5a, 8_192, 24_576)
      writeFileSync(join(data, 'gatehouse.sqlite'), content)
      rmSync(folder, { recursive: true })
      await expect(createBackupFrom({ data })).rejects.toMatchObject({
        message: expect.stringMatching(/malformed|damaged/),
      })
      expect(existsSync(folder)).toBe(false)
    })
  })

  describe('restore into a data folder', () => {
    test('restores the keys, readable by the owner only', async () => {
      await restoreTo({ data: target })
      expect(readdirSync(target).sort()).toEqual([
        'gatehouse.sqlite',
        'lock.sqlite',
        'operator.key',
        'secret.key',
      ])
      expect(modeOf(target)).toBe('700')
      for (const name of readdirSync(target)) expect(modeOf(join(target, name))).toBe('600')
      expect(readFileSync(join(target, 'operator.key'), 'utf8')).toBe('the operator key\n')
    })

    test('accepts a folder with keys and no database', async () => {
      rmSync(join(data, 'gatehouse.sqlite'))
      await expect(openStore({ data }, 'node')).rejects.toThrow('gatehouse restore')
      await restoreTo({ data })
      const store = await openStore({ data }, 'node')
      await store.close()
    })

    test.each([
      ['a database', 'gatehouse.sqlite', 'x'],
      ['the log of a database', 'gatehouse.sqlite-wal', ''],
      ['another key', 'operator.key', 'another key\n'],
      ['anything else', 'notes.txt', ''],
    ])('rejects a folder that contains %s', async (_, name, content) => {
      mkdirSync(target)
      writeFileSync(join(target, name), content)
      await expect(restoreTo({ data: target })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(`is not empty (${name})`),
      })
      expect(readFileSync(join(target, name), 'utf8')).toBe(content)
    })

    test('that was interrupted prevents nodes from starting, and can be repeated', async () => {
      mkdirSync(join(target, 'restore.partial'), { recursive: true })
      writeFileSync(join(target, 'restore.partial', 'gatehouse.sqlite'), 'half')
      await expect(openStore({ data: target }, 'node')).rejects.toMatchObject({
        message: expect.stringContaining('was interrupted. Run "gatehouse restore FOLDER" again'),
      })
      await restoreTo({ data: target })
      expect(existsSync(join(target, 'restore.partial'))).toBe(false)
      const store = await openStore({ data: target }, 'node')
      await store.close()
    })

    test('reads a read-only backup', async () => {
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400)
      chmodSync(folder, 0o500)
      await restoreTo({ data: target })
      chmodSync(folder, 0o700)
      expect(modeOf(join(target, 'gatehouse.sqlite'))).toBe('600')
      expect(readdirSync(folder)).toHaveLength(4)
    })
  })
})

test('every migration creates the same tables and columns on both engines', async () => {
  const shapes = await Promise.all(
    (['sqlite', 'postgres'] as const).map(async (name) => {
      const store = await openStore(await targets[name](), 'tool')
      onTestFinished(() => store.close())
      const tables = await store.db.introspection.getTables()
      return Object.fromEntries(
        tables.map((table) => [table.name, table.columns.map((column) => column.name).sort()]),
      )
    }),
  )
  expect(shapes[0]).toEqual(shapes[1])
  expect(Object.keys(migrationsUpTo('sqlite', '0003-documents'))).toHaveLength(3)
})
