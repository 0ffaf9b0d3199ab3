import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { killProcesses, startProcess } from '../../test-support/server-process.testing.ts'

// Tests a start with a data folder on a file system that is mounted read-only.

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
