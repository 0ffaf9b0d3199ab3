import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { killProcesses, startProcess } from '../../test-support/server-process.testing.ts'
import { startOnSmallDisk } from './small-disk.testing.ts'

// Tests file systems that are mounted read-only.

let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-read-only-'))
})
afterEach(async () => {
  await killProcesses()
  rmSync(data, { recursive: true, force: true })
})

test.each([
  ['empty', false],
  ['with a store', true],
])('startup fails on a read-only file system: %s', async (_, isUsed) => {
  const [port = 0] = await freePorts(1)
  const flags = ['--data', data, '--endpoint', `tcp://127.0.0.1:${port}`]
  if (isUsed) {
    const server = await startProcess(flags)
    server.signal('SIGTERM')
    await server.exit
  }
  const mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
  const through = ['unshare', '-m', 'sh', '-c', mount, data]
  await expect(startProcess(flags, { through })).rejects.toThrow(
    `the server ended with 1:\nThe data folder ${data} is on a read-only file system.\n`,
  )
})

test('a server needs no temporary folder: only its data folder can be written to', async () => {
  const { call } = await startOnSmallDisk(64, { isOnlyDisk: true })
  const documents = Array.from({ length: 5_000 }, (_, at) => ({
    id: `d${at}`,
    text: 'x'.repeat(500),
  }))
  const lines = documents.map((each) => JSON.stringify(each)).join('\n')
  const imported = await call('POST', '/things', lines, { 'Content-Type': 'application/x-ndjson' })
  expect(imported.json).toMatchObject({ created: 5_000, failed: 0 })
  expect((await call('DELETE', '/things?text:ne=y')).json).toEqual({ deleted: 5_000 })
})
