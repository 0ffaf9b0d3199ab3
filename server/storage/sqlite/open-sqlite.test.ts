import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openStore } from '../open.ts'
import { forEngine } from '../test-support/each-engine.testing.ts'
import { MAX_IDLE_LOG } from './background-checkpoint.ts'

let folder: string
let data: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sqlite-'))
  data = join(folder, 'new', 'data')
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const childNode = join(import.meta.dirname, '../test-support/child-node.testing.ts')

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('creates a data folder and files that only the owner can read', async () => {
  const store = await openStore({ data }, 'node')
  await store.db.insertInto('databases').values({ name: 'ada', created_at: 1 }).execute()
  expect(mode(data)).toBe('700')
  for (const file of ['gatehouse.sqlite', 'gatehouse.sqlite-wal', 'lock.sqlite']) {
    expect(mode(join(data, file))).toBe('600')
  }
  await store.close()
})

test('truncates the write-ahead log after a snapshot for which it had to grow', async () => {
  const store = await openStore({ data }, 'node')
  const write = (name: string, value: string) =>
    store.db.insertInto('settings').values({ name, value }).execute()
  const logSize = () => statSync(join(data, 'gatehouse.sqlite-wal')).size
  const snapshot = await store.openSnapshot()
  const value = 'x'.repeat(4 * 1024 * 1024)
  for (let at = 0; logSize() <= MAX_IDLE_LOG; at++) await write(String(at), value)
  const databaseSize = () => statSync(join(data, 'gatehouse.sqlite')).size
  expect(databaseSize()).toBeLessThan(MAX_IDLE_LOG)
  await snapshot[Symbol.asyncDispose]()
  // The log is copied into the database without a commit.
  await expect.poll(logSize).toBe(0)
  expect(databaseSize()).toBeGreaterThan(MAX_IDLE_LOG)
  await write('after', '')
  expect(logSize()).toBeLessThan(MAX_IDLE_LOG)
  await store.close()
})

test('truncates the write-ahead log after another process has read a snapshot', async () => {
  const store = await openStore({ data }, 'node')
  let changes = 0
  const write = (value: string) =>
    store.db
      .insertInto('settings')
      .values({ name: `${changes++}`, value })
      .execute()
  const logSize = () => statSync(join(data, 'gatehouse.sqlite-wal')).size
  const other = new DatabaseSync(join(data, 'gatehouse.sqlite'), { readOnly: true })
  other.exec('begin; select 1 from sqlite_schema')
  while (logSize() <= MAX_IDLE_LOG) await write('x'.repeat(4 * 1024 * 1024))
  other.close()
  const size = async () => {
    await write('')
    return logSize()
  }
  await expect.poll(size).toBe(MAX_IDLE_LOG)
  await store.close()
})

test('closes without a log while it is copied after a snapshot', async () => {
  const store = await openStore({ data }, 'node')
  const log = join(data, 'gatehouse.sqlite-wal')
  const snapshot = await store.openSnapshot()
  const value = 'x'.repeat(4 * 1024 * 1024)
  for (let at = 0; statSync(log).size <= MAX_IDLE_LOG; at++) {
    await store.db
      .insertInto('settings')
      .values({ name: String(at), value })
      .execute()
  }
  await snapshot[Symbol.asyncDispose]()
  await store.close()
  expect(existsSync(log)).toBe(false)
})

test('reports that the data folder is not a folder', async () => {
  writeFileSync(join(folder, 'file'), '')
  data = join(folder, 'file')
  await expect(openStore({ data }, 'node')).rejects.toMatchObject({
    code: 'unavailable',
    message: `The data folder ${data} is not a folder.`,
  })
  data = join(folder, 'file', 'below')
  await expect(openStore({ data }, 'tool')).rejects.toMatchObject({
    code: 'unavailable',
    message: `The data folder ${data} is not a folder.`,
  })
})

test('reports that the file is not a database, and releases the folder', async () => {
  const path = join(folder, 'gatehouse.sqlite')
  writeFileSync(path, 'something else '.repeat(1_000))
  await expect(openStore({ data: folder }, 'node')).rejects.toMatchObject({
    code: 'unavailable',
    message:
      `The database in the data folder ${folder} cannot be opened. ` +
      'The database file is not a SQLite database.',
  })
  rmSync(path)
  const store = await openStore({ data: folder }, 'node')
  await store.close()
})

test('waits for another process that creates the same store', async () => {
  const other = new DatabaseSync(join(folder, 'gatehouse.sqlite'))
  other.exec('begin exclusive')
  const opening = openStore({ data: folder }, 'node')
  await nextTurn()
  other.exec('rollback')
  other.close()
  const store = await opening
  expect(await store.db.selectFrom('endpoints').selectAll().execute()).toEqual([])
  await store.close()
})

test('rejects a second node on the same data folder until the first has stopped', async () => {
  const first = await openStore({ data }, 'node')
  await expect(openStore({ data }, 'node')).rejects.toMatchObject({
    code: 'conflict',
    message:
      `Another Gatehouse process is using the data folder ${data}. ` +
      'Stop it first, or use another folder with --data.',
  })
  // The failed attempt must not drop the POSIX locks of the first node. Only another process can
  // detect that.
  const { status, stderr } = spawnSync(process.execPath, [childNode, data], { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain('Another Gatehouse process is using the data folder')
  await first.close()
  const second = await openStore({ data }, 'node')
  await second.close()
})

test('a killed node leaves all acknowledged changes and no lock', async () => {
  const child = spawn(process.execPath, [childNode, data, '100000'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let acknowledged = 0
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('acknowledged')) acknowledged++
    if (acknowledged === 1) {
      await expect(openStore({ data }, 'node')).rejects.toMatchObject({ code: 'conflict' })
    }
    if (acknowledged === 20) child.kill('SIGKILL')
  }
  await ended
  const store = await openStore({ data }, 'node')
  const rows = await store.db.selectFrom('databases').select('name').execute()
  const names = new Set(rows.map(({ name }) => name))
  for (let n = 1; n <= acknowledged; n++) expect(names).toContain(`d${n}`)
  // One more may have been stored but not yet acknowledged.
  expect(names.size).toBeLessThanOrEqual(acknowledged + 1)
  await store.close()
})

forEngine('sqlite', (engine) => {
  test('allows a tool beside a node, which detects its changes immediately', async () => {
    const node = await engine.open('node')
    const tool = await engine.open('tool')
    const insert = (name: string) => ({ name, created_at: 1 })
    await tool.db.insertInto('databases').values(insert('by-tool')).execute()
    expect(node.changedOutside()).toBe(true)
    expect(node.changedOutside()).toBe(false)
    await node.db.insertInto('databases').values(insert('by-node')).execute()
    expect(await tool.db.selectFrom('databases').select('name').execute()).toHaveLength(2)
  })

  test('detects an outside change after a check that failed', async () => {
    const node = await engine.open('node')
    const tool = await engine.open('tool')
    await tool.db.insertInto('databases').values({ name: 'by-tool', created_at: 1 }).execute()
    await nextTurn()
    const spy = vi.spyOn(StatementSync.prototype, 'get')
    onTestFinished(() => spy.mockRestore())
    // The check reads the version of the reading connection, then that of the writing one.
    spy.mockReturnValueOnce({ data_version: -1 })
    spy.mockImplementationOnce(() => {
      throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 })
    })
    expect(() => node.changedOutside()).toThrow('The disk failed')
    expect(node.changedOutside()).toBe(true)
  })

  test('reads a change of another process after detecting it, also in the same turn', async () => {
    const node = await engine.open('node')
    const read = () => node.db.selectFrom('databases').select('name').execute()
    const written = node.db.insertInto('databases').values({ name: 'own', created_at: 1 }).execute()
    // At this point the group of the write is open but not committed. The read starts a snapshot.
    for (let step = 0; step < 50; step++) await Promise.resolve()
    const before = read()
    await written
    expect(await read()).toEqual([{ name: 'own' }])
    expect(await before).toEqual([])

    const { data } = engine.location() as { data: string }
    const other = new DatabaseSync(join(data, 'gatehouse.sqlite'))
    await read()
    other.exec("insert into databases (name, created_at) values ('other', 1)")
    other.close()
    expect(await read()).toHaveLength(1)
    expect(node.changedOutside()).toBe(true)
    expect(await read()).toHaveLength(2)
  })

  test('closes in a turn in which it has read', async () => {
    const node = await engine.open('node')
    await node.db.selectFrom('databases').select('name').execute()
    await node.close()
    await nextTurn()
  })

  test('does not report its own commits as outside changes', async () => {
    const node = await engine.open('node')
    await node.db.insertInto('databases').values({ name: 'ada', created_at: 1 }).execute()
    expect(node.changedOutside()).toBe(false)
  })

  test('detects an outside change also during its own transaction', async () => {
    const node = await engine.open('node')
    const tool = await engine.open('tool')
    await tool.db.insertInto('databases').values({ name: 'by-tool', created_at: 1 }).execute()
    await node.transaction(async (trx) => {
      await trx.insertInto('databases').values({ name: 'by-node', created_at: 1 }).execute()
      expect(node.changedOutside()).toBe(true)
      expect(node.changedOutside()).toBe(false)
    })
    expect(node.changedOutside()).toBe(false)
  })
})

test('a repeated read returns later commits of this and other processes', async () => {
  const store = await openStore({ data }, 'node')
  const query = store.db.selectFrom('databases').select('created_at').where('name', '=', '')
  const run = store.prepare(query.compile())
  const read = async () => (await run('ada')).rows
  expect(await read()).toEqual([])
  await store.db.insertInto('databases').values({ name: 'ada', created_at: 1 }).execute()
  expect(await read()).toEqual([{ created_at: 1 }])
  const again = await read()
  expect(await read()).toBe(again)

  const other = new DatabaseSync(join(data, 'gatehouse.sqlite'))
  other.exec("update databases set created_at = 2 where name = 'ada'")
  expect(store.changedOutside()).toBe(true)
  expect(await read()).toEqual([{ created_at: 2 }])
  other.exec("update databases set created_at = 3 where name = 'ada'")
  // Without a call of `changedOutside`, the next turn still sees the change.
  await nextTurn()
  await nextTurn()
  expect(await read()).toEqual([{ created_at: 3 }])
  other.close()
  await store.close()
})
