import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyChain } from '../../audit/verify.ts'
import type { AuditPage, AuditRow } from '../../contract/audit.ts'
import { openStore } from '../../storage/open.ts'
import { identityForPostgres } from '../../storage/test-support/postgres-binaries.testing.ts'
import {
  type OwnPostgres,
  startOwnPostgres,
} from '../../storage/test-support/postgres-server.testing.ts'
import { startForTest } from '../../test-support/start.testing.ts'
import { fillDisk } from './small-disk.testing.ts'

// Tests a node whose PostgreSQL has its tables on a small disk (tmpfs) that fills up.

/** Size of the disk, MiB. An empty database takes about 10. */
const SIZE = 32

let folder: string
let server: OwnPostgres
let databaseUrl: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-full-postgres-'))
  const { uid = process.getuid?.(), gid = process.getgid?.() } = identityForPostgres()
  execFileSync('mount', [
    ...['-t', 'tmpfs', '-o', `size=${SIZE}m,uid=${uid},gid=${gid},mode=755`],
    ...['none', folder],
  ])
  execFileSync('install', ['-d', '-o', String(uid), '-g', String(gid), join(folder, 'tables')])
  server = await startOwnPostgres()
  const client = new Client(server.url)
  await client.connect()
  await client.query(`create tablespace small location '${join(folder, 'tables')}'`)
  await client.query('create database gatehouse tablespace small')
  await client.end()
  databaseUrl = server.url.replace(/[^/]+$/, 'gatehouse')
})
afterAll(async () => {
  await server.remove()
  execFileSync('umount', [folder])
  rmSync(folder, { recursive: true })
})

test('while the disk of PostgreSQL is full, changes get 507, reads continue, and the audit log has no gaps', async () => {
  const node = await startForTest({ databaseUrl })
  try {
    const insert = (id: string, bytes = 50_000) =>
      node.request('POST', '/things', { id, text: randomBytes(bytes).toString('base64') })
    expect((await insert('kept', 10)).status).toBe(201)
    const created: string[] = []
    /** Creates a database, which adds a row to the audit log. */
    const create = async (name: string) => {
      const { status } = await node.request('POST', '/_api/database', { name })
      if (status === 201) created.push(name)
      return status
    }
    expect(await create('before')).toBe(201)
    fillDisk(join(folder, 'filler'))
    const acknowledged: string[] = ['kept']
    // The files of the tables may have some space left.
    await expect
      .poll(async () => {
        const id = `d${acknowledged.length}`
        const { status } = await insert(id)
        if (status === 201) acknowledged.push(id)
        return status
      })
      .toBe(507)
    expect((await insert('rejected')).json).toEqual({
      id: 'insufficient_storage',
      message: 'The disk is full. Nothing was changed.',
    })
    // The name and the audit row need space at some point.
    let names = 0
    await expect.poll(() => create(`full-${names++}`.padEnd(60, 'x'))).toBe(507)
    for (const path of ['/things/kept', '/things?limit=1', '/_api/endpoint', '/_api/audit']) {
      expect([path, (await node.request('GET', path)).status]).toEqual([path, 200])
    }
    expect((await node.request('GET', '/things/rejected')).status).toBe(404)

    rmSync(join(folder, 'filler'))
    expect((await insert('later')).status).toBe(201)
    expect(await create('after')).toBe(201)
    const stored = (await node.request('GET', '/things?fields=id&limit=1000')).json
    const ids = stored.map(({ id }: { id: string }) => id)
    expect(ids.sort()).toEqual([...acknowledged, 'later'].sort())
    const rows: AuditRow[] = []
    for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
      const path = `/_api/audit?what=database.create&limit=500&before=${before}`
      const page: AuditPage = (await node.request('GET', path)).json
      rows.push(...page.rows.filter(({ outcome }) => outcome === 'done'))
      before = page.next
    }
    expect(rows.map(({ target }) => target).reverse()).toEqual(created)
    const store = await openStore({ databaseUrl }, 'tool')
    expect(await verifyChain(store).finally(store.close)).toMatchObject({ intact: true })
  } finally {
    await node.stop()
  }
})
