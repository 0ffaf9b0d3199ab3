import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('while the disk of PostgreSQL is full, changes get 507 and reads continue', async () => {
  const node = await startForTest({ databaseUrl })
  try {
    const insert = (id: string, bytes = 50_000) =>
      node.request('POST', '/things', { id, text: randomBytes(bytes).toString('base64') })
    expect((await insert('kept', 10)).status).toBe(201)
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
    for (const path of ['/things/kept', '/things?limit=1', '/_api/endpoint', '/_api/audit']) {
      expect([path, (await node.request('GET', path)).status]).toEqual([path, 200])
    }
    expect((await node.request('GET', '/things/rejected')).status).toBe(404)

    rmSync(join(folder, 'filler'))
    expect((await insert('later')).status).toBe(201)
    const stored = (await node.request('GET', '/things?fields=id&limit=1000')).json
    const ids = stored.map(({ id }: { id: string }) => id)
    expect(ids.sort()).toEqual([...acknowledged, 'later'].sort())
  } finally {
    await node.stop()
  }
})
