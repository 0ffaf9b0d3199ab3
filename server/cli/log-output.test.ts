import { execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { MAIN } from '../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../test-support/start.testing.ts'

// Tests a server whose standard output cannot be written to.

const { O_RDONLY, O_NONBLOCK, O_RDWR } = constants

/** The log says the path of each request, so that a few hundred requests fill its buffer. */
const LONG_PATH = `/${'x'.repeat(12_000)}`

function createPipe(folder: string): string {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

test.each<[string, (folder: string) => number]>([
  ['a pipe that is not read', (folder) => openSync(createPipe(folder), O_RDWR)],
  [
    'a pipe whose reader has ended',
    (folder) => {
      const path = createPipe(folder)
      const reader = openSync(path, O_RDONLY | O_NONBLOCK)
      const writer = openSync(path, 'w')
      closeSync(reader)
      return writer
    },
  ],
  ['a file on a full disk', () => openSync('/dev/full', 'w')],
])('a server whose log is %s drops lines, counts them, serves and stops', async (_, open) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
  const stdout = open(folder)
  const [port = 0] = await freePorts(1)
  const flags = ['--data', folder, '--endpoint', `tcp://127.0.0.1:${port}`, '--log', 'debug']
  const child = spawn(process.execPath, [MAIN, 'start', ...flags], {
    stdio: ['ignore', stdout, 'inherit'],
  })
  closeSync(stdout)
  const exit = new Promise((resolve) => child.once('close', (...how) => resolve(how)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
    rmSync(folder, { recursive: true })
  })
  const isReady = async () => {
    const { status } = await sendRequest(port, 'GET', '/_api/health/ready')
    return status === 200
  }
  // Without its log, the start of a process on a busy machine can only be awaited by requests.
  await expect.poll(() => isReady().catch(() => false), { timeout: 240_000 }).toBe(true)

  const headers = {
    Authorization: `Bearer ${await makeToken({ data: folder, databaseUrl: undefined })}`,
  }
  const countDropped = async () => {
    const requests = Array.from({ length: 50 }, () => sendRequest(port, 'GET', LONG_PATH))
    await Promise.all(requests)
    const { text } = await sendRequest(port, 'GET', '/_api/metrics', { headers })
    return Number(/^gatehouse_log_lines_dropped_total (\d+)/m.exec(text)?.[1])
  }
  await expect.poll(countDropped).toBeGreaterThan(0)
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
})
