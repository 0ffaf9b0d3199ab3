import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { openStore } from '../../storage/open.ts'
import { killProcesses, startProcess } from '../../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../../test-support/start.testing.ts'

// Tests starts with a data folder whose files the process may not use, that a newer version has
// changed, or without the write-ahead log.

let folder: string
let data: string
let port: number
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-inaccessible-'))
  data = join(folder, 'data')
  ;[port = 0] = await freePorts(1)
})
afterEach(async () => {
  await killProcesses()
  chmodSync(data, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a server that has no permissions beyond those of the owner and the mode of a file. */
function start() {
  const without = ['dac_override', 'dac_read_search', 'fowner', 'chown']
    .map((name) => `-${name}`)
    .join()
  const drop = [`--bounding-set=${without}`, `--inh-caps=${without}`]
  return startProcess(['--data', data, '--endpoint', `tcp://127.0.0.1:${port}`], {
    through: process.getuid?.() === 0 ? ['setpriv', ...drop] : [],
  })
}

/** Creates a store with a document, kills its server, and returns the token. */
async function createAndKill(): Promise<string> {
  const server = await start()
  const token = await makeToken({ data, databaseUrl: undefined })
  const headers = { Authorization: `Bearer ${token}` }
  const created = await sendRequest(port, 'POST', '/things', { body: { id: 'one' }, headers })
  expect(created.status).toBe(201)
  server.signal('SIGKILL')
  await server.exit
  return token
}

/** Starts a server that must end with code 1 and one line without a stack trace; returns the line. */
async function messageOfStart(): Promise<string> {
  const error = await start().then(
    () => new Error('the server started'),
    (reason: Error) => reason,
  )
  const [, message] = /^the server ended with 1:\n(.*)\n$/.exec(error.message) ?? []
  if (message === undefined) throw error
  return message
}

/** Starts a server and reads the document. */
async function expectKept(token: string): Promise<void> {
  await start()
  const headers = { Authorization: `Bearer ${token}` }
  expect((await sendRequest(port, 'GET', '/things/one', { headers })).status).toBe(200)
}

/** Returns the files of the database with their contents. */
const contents = () =>
  readdirSync(data)
    .filter((name) => name.startsWith('gatehouse.sqlite'))
    .map((name) => [name, readFileSync(join(data, name), 'latin1')])

const DENIED = 'cannot be read and written: permission denied. Start the node as its owner.'

test('startup fails on inaccessible files, names the file and changes nothing', async () => {
  const token = await createAndKill()
  const before = contents()
  const cases = [
    ['', 0o000, `The file ${join(data, 'gatehouse.sqlite')} ${DENIED}`],
    ['', 0o500, `The data folder ${data} is not writable: permission denied.`],
    ['gatehouse.sqlite', 0o000, `The file ${join(data, 'gatehouse.sqlite')} ${DENIED}`],
    ['gatehouse.sqlite', 0o400, `The file ${join(data, 'gatehouse.sqlite')} ${DENIED}`],
    ['gatehouse.sqlite-wal', 0o400, `The file ${join(data, 'gatehouse.sqlite-wal')} ${DENIED}`],
    ['lock.sqlite', 0o400, `The file ${join(data, 'lock.sqlite')} ${DENIED}`],
  ] as const
  const messages: string[] = []
  for (const [name, mode] of cases) {
    const path = join(data, name)
    chmodSync(path, mode)
    messages.push(await messageOfStart())
    chmodSync(path, name === '' ? 0o700 : 0o600)
  }
  expect(messages).toEqual(cases.map(([, , message]) => message))
  expect(contents()).toEqual(before)

  const key = join(data, 'operator.key')
  chmodSync(key, 0o000)
  expect(await messageOfStart()).toBe(`${key} cannot be used. (EACCES)`)
  chmodSync(key, 0o600)
  await expectKept(token)
})

/** The user `nobody` on Linux. No process of the test runs as this user. */
const OTHER_USER = 65_534

/** Only root can give files to another user. */
const isRoot = process.getuid?.() === 0

test.runIf(isRoot)('startup fails on files of another user and changes nothing', async () => {
  const token = await createAndKill()
  const before = contents()
  const database = join(data, 'gatehouse.sqlite')
  const { uid, gid } = statSync(data)
  const all = ['', ...readdirSync(data)].map((name) => join(data, name))
  const give = (paths: readonly string[], to: number) => {
    for (const path of paths) chownSync(path, to, gid)
  }

  give(all, OTHER_USER)
  expect(await messageOfStart()).toBe(`The file ${database} ${DENIED}`)
  // Everyone may create files in the folder.
  chmodSync(data, 0o777)
  expect(await messageOfStart()).toBe(`The file ${join(data, 'lock.sqlite')} ${DENIED}`)
  give([data], uid)
  chmodSync(data, 0o700)
  expect(await messageOfStart()).toBe(`The file ${join(data, 'lock.sqlite')} ${DENIED}`)
  expect(contents()).toEqual(before)

  // Files that everyone may use, in a folder of another user that the process may only read.
  for (const path of all) chmodSync(path, 0o666)
  give([data], OTHER_USER)
  chmodSync(data, 0o755)
  expect(await messageOfStart()).toBe(`The data folder ${data} is not writable: permission denied.`)
  expect(contents()).toEqual(before)

  give(all, uid)
  chmodSync(data, 0o700)
  await expectKept(token)
})

test('startup fails on a store that a newer version has changed', async () => {
  await createAndKill()
  const store = await openStore({ data }, 'tool')
  await sql`insert into kysely_migration (name, timestamp)
    values ('9999-tomorrow', '2999-01-01T00:00:00.000Z')`.execute(store.db)
  await store.close()
  const before = contents()
  expect(await messageOfStart()).toMatch(
    /^This database was last used by a newer version of Gatehouse .*9999-tomorrow/,
  )
  expect(contents()).toEqual(before)
})

test('startup fails without the write-ahead log, until its index is removed', async () => {
  await createAndKill()
  const database = join(data, 'gatehouse.sqlite')
  rmSync(`${database}-wal`)
  const before = contents()
  expect(await messageOfStart()).toBe(
    `The file ${database}-wal with the last changes is missing. Put it back or restore a backup. ` +
      `To start without these changes, remove ${database}-shm.`,
  )
  expect(contents()).toEqual(before)
})
