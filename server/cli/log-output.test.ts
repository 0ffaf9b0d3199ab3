import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { killProcesses, MAIN, startProcess } from '../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../test-support/start.testing.ts'
import { LogOutput, openLogFile } from './log-output.ts'

// Tests a server whose standard output or access log cannot be written to.

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

afterEach(killProcesses)

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('an access log has a line for each request, and continues in a new file after SIGUSR2', async () => {
  const folder = makeFolder()
  const file = join(folder, 'access.log')
  const [port = 0] = await freePorts(1)
  const flags = ['--data', folder, '--endpoint', `tcp://127.0.0.1:${port}`, '--access-log', file]
  const server = await startProcess(flags)
  const lines = (path: string) =>
    existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
  await sendRequest(port, 'GET', '/first?token=x')
  await expect.poll(() => lines(file).length).toBe(1)
  expect(JSON.parse(lines(file)[0] ?? '')).toEqual({
    ...{ log: 'access', time: expect.any(String), node: expect.any(String) },
    ...{ endpoint: `tcp://127.0.0.1:${port}`, client: '127.0.0.1' },
    ...{ method: 'GET', path: '/first', status: 401, database: '_system', rejected: 'credential' },
    ...{ ms: expect.any(Number), bytes: expect.any(Number), caller: null, token: null },
  })
  expect(statSync(file).mode & 0o777).toBe(0o640)
  renameSync(file, `${file}.1`)
  await sendRequest(port, 'GET', '/second')
  await expect.poll(() => lines(`${file}.1`).length).toBe(2)
  server.signal('SIGUSR2')
  // It opens the file without waiting for a request.
  await expect.poll(() => existsSync(file)).toBe(true)
  await sendRequest(port, 'GET', '/healthz')
  await expect.poll(() => lines(file).length).toBe(1)
  expect(lines(file)[0]).toContain('"path":"/healthz","status":200')
  expect(lines(`${file}.1`)).toHaveLength(2)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
  expect(server.printed()).not.toContain('"log":"access"')
})

test('an access log can be written to standard output, beside the log', async () => {
  const folder = makeFolder()
  const [port = 0] = await freePorts(1)
  const flags = ['--data', folder, '--endpoint', `tcp://127.0.0.1:${port}`, '--access-log', '-']
  const server = await startProcess(flags)
  await sendRequest(port, 'GET', '/first')
  await expect.poll(server.printed).toContain('"path":"/first","status":401')
  // There is no file to open again.
  server.signal('SIGUSR2')
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test.each([
  ['a folder that is missing', (folder: string) => join(folder, 'none', 'access.log'), 'ENOENT'],
  ['a folder', (folder: string) => folder, 'EISDIR'],
  ['a pipe without a reader', createPipe, 'no program reads the pipe'],
])('an access log in %s is an error of the start', async (_, pathIn, reason) => {
  const folder = makeFolder()
  const path = pathIn(folder)
  await expect(startProcess(['--data', folder, '--access-log', path])).rejects.toThrow(
    new RegExp(`The access log cannot be opened: .*${reason}`),
  )
})

test('lines of a file that cannot be opened again are dropped and counted, until it can', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const folder = makeFolder()
  const logs = join(folder, 'logs')
  mkdirSync(logs)
  const path = join(logs, 'access.log')
  const { stream, reopen } = openLogFile(path)
  const output = new LogOutput(stream)
  output.write('first\n')
  await expect.poll(() => readFileSync(path, 'utf8')).toBe('first\n')
  rmSync(logs, { recursive: true })
  reopen()
  // Four of them fit.
  const line = `${'x'.repeat(1_000_000)}\n`
  for (let at = 0; at < 6; at++) output.writeSoon(line)
  expect(output.dropped).toBe(2)
  mkdirSync(logs)
  await expect
    .poll(() => {
      vi.advanceTimersByTime(1_000)
      return existsSync(path) && statSync(path).size
    })
    .toBe(4 * line.length)
  output.write('last\n')
  await expect.poll(() => readFileSync(path, 'utf8').endsWith('\nlast\n')).toBe(true)
  expect(output.dropped).toBe(2)
})
