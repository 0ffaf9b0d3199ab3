import { expect, test } from 'vitest'
import type { AuditPage } from '../../contract/audit.ts'
import { createDocumentWriter, readAll } from '../endurance/document-writer.testing.ts'
import { randomNumbers, SEED } from '../endurance/settings.testing.ts'
import { startOnSmallDisk } from './small-disk.testing.ts'

// Tests a server whose disk fills up and becomes free again, while clients change documents and
// databases.

/** How often the disk fills up. */
const ROUNDS = 3

/** Number of clients that change documents, and of those that change databases. */
const CLIENTS = 3

/** Minimum number of changes that each client makes, or fails to make, in each state of the disk. */
const CHANGES = 5

/** A client of the test. */
interface Client {
  readonly made: number
  readonly rejected: number
  /** Makes one change. */
  change(): Promise<void>
}

test('while the disk is full, acknowledged changes and their audit rows are stored, and no others', async () => {
  const { server, call, fill, free, verifyAuditLog } = await startOnSmallDisk()
  const expectedRows: string[] = []

  const writers = Array.from({ length: CLIENTS }, (_, at) =>
    createDocumentWriter(`w${at}`, randomNumbers(SEED + at)),
  )
  const documentClients = writers.map((writer): Client => {
    let responses = 0
    return {
      get made() {
        return writer.acknowledged
      },
      get rejected() {
        return responses - writer.acknowledged
      },
      async change() {
        expect(await writer.write(call)).toBe(true)
        responses++
      },
    }
  })
  /** Creates and drops databases of its own. */
  const createDatabaseClient = (at: number): Client => {
    const counts = { made: 0, rejected: 0 }
    const names: string[] = []
    let created = 0
    return {
      get made() {
        return counts.made
      },
      get rejected() {
        return counts.rejected
      },
      async change() {
        const isDrop = names.length > 2
        const name = isDrop ? (names[0] ?? '') : `db${at}-${created++}`
        const { status, text } = isDrop
          ? await call('DELETE', `/_api/database/${name}`)
          : await call('POST', '/_api/database', { name })
        if (status === 507) {
          counts.rejected++
          return
        }
        expect(status, text).toBe(isDrop ? 200 : 201)
        counts.made++
        expectedRows.push(`${isDrop ? 'database.drop' : 'database.create'} ${name}`)
        if (isDrop) names.shift()
        else names.push(name)
      },
    }
  }
  const databaseClients = Array.from({ length: CLIENTS }, (_, at) => createDatabaseClient(at))
  const clients = [...documentClients, ...databaseClients]

  let isOver = false
  const working = clients.map(async ({ change }) => {
    while (!isOver) await change()
  })
  const failed = Promise.all(working)
  /** Waits until each client has made, or failed to make, some more changes. */
  const untilEach = async (count: 'made' | 'rejected') => {
    const before = clients.map((client) => client[count])
    const isReached = () =>
      clients.every((client, at) => client[count] >= (before[at] ?? 0) + CHANGES)
    await Promise.race([expect.poll(isReached).toBe(true), failed])
  }
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await untilEach('made')
      fill()
      await untilEach('rejected')
      free()
    }
    await untilEach('made')
  } finally {
    isOver = true
  }
  await failed

  const stored = await readAll(call)
  for (const writer of writers) writer.check(stored, true)
  const rows: string[] = []
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const page: AuditPage = (await call('GET', `/_api/audit?limit=500&before=${before}`)).json
    const done = page.rows.filter(({ outcome }) => outcome === 'done')
    rows.push(...done.map(({ action, target }) => `${action} ${target}`))
    before = page.next
  }
  expect(rows.filter((row) => row.startsWith('database.')).sort()).toEqual(expectedRows.sort())
  expect(verifyAuditLog()).toMatch(/^[1-9][0-9]*:[0-9a-f]{64}$/)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})
