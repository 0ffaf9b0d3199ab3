import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { openStore } from '../open.ts'
import { forEachEngine, forEngine } from '../test-support/each-engine.testing.ts'
import { createBackupFixture, fill, withDatabase } from './backup.testing.ts'
import { restore } from './restore.ts'

const backup = createBackupFixture()

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

forEachEngine({ empty: true }, (engine) => {
  describe('restore', () => {
    beforeEach(async () => {
      const store = await engine.open()
      await fill(store)
      await store.db.updateTable('counters').set({ value: 41 }).execute()
      await store.db
        .insertInto('endpoints')
        .values({ address: 'tcp://127.0.0.1:1', databases: '[]', revision: 2, proposal: '{}' })
        .execute()
      await backup.create(engine.location())
    })

    test.each(['sqlite', 'postgres'] as const)(
      'adjusts data that depends on the time of the restore (%s)',
      async (name) => {
        const location = await backup.targets[name]()
        const begun = Date.now()
        const recorded = vi.fn(async () => {})
        const manifest = await restore({ location, folder: backup.folder, record: recorded })
        expect(recorded).toHaveBeenCalledExactlyOnceWith(expect.anything(), manifest)
        const { db, close } = await openStore(location, 'tool')
        const { value } = await db.selectFrom('counters').select('value').executeTakeFirstOrThrow()
        expect(value).toBeGreaterThanOrEqual(begun)
        const jobs = await db
          .selectFrom('jobs')
          .select(['id', 'state', 'claimed_until'])
          .orderBy('id')
          .execute()
        expect(jobs).toEqual([{ id: 'j', state: 'running', claimed_until: 0 }])
        const endpoints = await db.selectFrom('endpoints').select('address').execute()
        expect(endpoints).toEqual([{ address: 'tcp://127.0.0.1:8530' }])
        await close()
      },
    )

    test.each(['sqlite', 'postgres'] as const)('that fails can be repeated (%s)', async (name) => {
      const location = await backup.targets[name]()
      const record = async () => {
        throw new Error('on purpose')
      }
      await expect(restore({ location, folder: backup.folder, record })).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The backup could not be restored: on purpose.',
      })
      await backup.restoreTo(location)
      const { db, close } = await openStore(location, 'tool')
      const people = await db.selectFrom('people').select('id').execute()
      expect(people).toEqual([{ id: 'p' }])
      await close()
    })

    test('rejects a store that is not empty, and changes nothing', async () => {
      const location = engine.location()
      await expect(backup.restoreTo(location)).rejects.toMatchObject({
        code: 'conflict',
        message:
          'data' in location
            ? expect.stringContaining('Another Gatehouse process is using the data folder')
            : expect.stringMatching(
                /^The database .* is not empty \(.*audit, .*requires a new, empty database/,
              ),
      })
      const store = await engine.open('tool')
      const { value } = await store.db.selectFrom('counters').selectAll().executeTakeFirstOrThrow()
      expect(value).toBe(41)
    })
  })
})

forEngine('postgres', () => {
  test('tables of an extension do not count as data', async () => {
    const location = await backup.targets.postgres()
    await withDatabase(location, (db) => sql`create extension pg_buffercache`.execute(db))
    const source = await backup.targets.sqlite()
    await (await openStore(source, 'tool')).close()
    await backup.create(source)
    await backup.restoreTo(location)
  })
})

forEngine('sqlite', (engine) => {
  let data: string
  let target: string
  beforeEach(async () => {
    data = await backup.createWithKeys(engine)
    target = join(backup.parent, 'restored')
  })

  describe('restore into a data folder', () => {
    test('restores the keys, readable by the owner only', async () => {
      await backup.restoreTo({ data: target })
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

    test('accepts a folder with keys, the socket of a killed node and no database', async () => {
      rmSync(join(data, 'gatehouse.sqlite'))
      writeFileSync(join(data, 'health.sock'), '')
      await expect(openStore({ data }, 'node')).rejects.toThrow('gatehouse restore')
      await backup.restoreTo({ data })
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
      await expect(backup.restoreTo({ data: target })).rejects.toMatchObject({
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
      await backup.restoreTo({ data: target })
      expect(existsSync(join(target, 'restore.partial'))).toBe(false)
      const store = await openStore({ data: target }, 'node')
      await store.close()
    })

    test('reads a read-only backup', async () => {
      for (const name of readdirSync(backup.folder)) chmodSync(join(backup.folder, name), 0o400)
      chmodSync(backup.folder, 0o500)
      await backup.restoreTo({ data: target })
      chmodSync(backup.folder, 0o700)
      expect(modeOf(join(target, 'gatehouse.sqlite'))).toBe('600')
      expect(readdirSync(backup.folder)).toHaveLength(4)
    })
  })
})
