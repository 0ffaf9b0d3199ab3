import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { consoleUrls } from '../http/static/console-urls.ts'
import { startPlainProvider } from '../oauth2/providers/plain-provider.testing.ts'
import { createBrowser } from '../oauth2/sign-in/browser.testing.ts'
import { plainConfig } from '../oauth2/sign-in/sign-in.testing.ts'
import { operatorSession } from '../test-support/operator-session.testing.ts'
import { killProcesses, MAIN, startProcess } from '../test-support/server-process.testing.ts'
import { sendRequest, startForTest } from '../test-support/start.testing.ts'

// Tests the operator key: where it is shown, who can read it, and how long it is valid.

let folder: string
let data: string
const terminals: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-key-'))
  data = join(folder, 'data')
})
afterEach(async () => {
  // SIGHUP of the terminal ends its server.
  for (const terminal of terminals.splice(0)) terminal.kill('SIGKILL')
  await killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

const keyFile = () => join(data, 'operator.key')
const keyOf = () => readFileSync(keyFile(), 'utf8').trim()
const flags = async (host = '127.0.0.1') => {
  const [port] = await freePorts(1)
  return ['--data', data, '--endpoint', `tcp://${host}:${port}`, '--log', 'trace']
}

/** Returns what a server prints on a terminal up to `last`, then stops the server. */
async function onTerminal(last: string, host?: string): Promise<string> {
  const command = [process.execPath, MAIN, 'start', ...(await flags(host))].join(' ')
  // util-linux provides a real pseudo-terminal, which the server detects.
  const terminal: ChildProcess = spawn('script', ['-qfec', `exec ${command}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = new Promise<void>((resolve) => terminal.once('close', () => resolve()))
  terminals.push(terminal)
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    terminal.stdout?.setEncoding('utf8').on('data', (part: string) => {
      printed += part
      if (printed.includes(last)) resolve()
    })
    terminal.once('close', () => reject(new Error(`it ended:\n${printed}`)))
  })
  // Ctrl-C.
  terminal.stdin?.write('\x03')
  await closed
  return printed
}

describe('a first start', () => {
  test('prints the key on a terminal once, and its location at later starts', async () => {
    const first = await onTerminal('It is kept in', '0.0.0.0')
    expect(first).toContain(`The operator key: ${keyOf()}`)
    expect(first).toMatch(/The console: {6}http:\/\/127\.0\.0\.1:\d+\/_console\//)
    expect(first).toContain('start with --public-url http://<this machine>:')
    const second = await onTerminal('The operator key is in')
    expect(second).toContain(keyFile())
    expect(second).not.toContain(keyOf())
  })

  test('logs where the console and the key are without a terminal', async () => {
    const { printed } = await startProcess(await flags())
    const ready = printed()
      .split('\n')
      .find((line) => line.includes('gatehouse is ready'))
    expect(JSON.parse(ready ?? '')).toMatchObject({
      console: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/_console\/$/)],
      operatorKeyFile: keyFile(),
    })
  })

  test('prints no key without a terminal, stores it for its owner, and keeps it across a restart', async () => {
    const first = await startProcess(await flags())
    const key = keyOf()
    expect(key).toMatch(/^gatehouse-[0-9A-Za-z]{43}$/)
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(statSync(data).mode & 0o777).toBe(0o700)
    first.signal('SIGTERM')
    await first.exit
    const second = await startProcess(await flags())
    expect(keyOf()).toBe(key)
    for (const { printed } of [first, second]) {
      expect(printed()).toContain('gatehouse is ready')
      expect(printed()).not.toContain(key)
    }
  })
})

test('a command prints the key without a terminal, from the data folder or the environment', async () => {
  const node = await startForTest({ data })
  onTestFinished(() => node.stop())
  const print = async (env: Record<string, string>) =>
    (
      await promisify(execFile)(process.execPath, [MAIN, 'operator-key'], {
        env: { PATH: process.env.PATH, GATEHOUSE_DATA: data, ...env },
      })
    ).stdout
  expect(await print({})).toBe(`${keyOf()}\n`)
  const file = join(folder, 'chosen')
  writeFileSync(file, 'a-key-of-our-own-choice-long-enough\n')
  expect(await print({ GATEHOUSE_OPERATOR_KEY_FILE: file })).toBe(
    'a-key-of-our-own-choice-long-enough\n',
  )
})

test('the printed URL of a wildcard endpoint accepts a sign-in', async () => {
  const node = await startForTest({ data, endpoints: ['tcp://0.0.0.0:0'] })
  onTestFinished(() => node.stop())
  const signIn = (url: string) => createBrowser().post(new URL('/_oauth2/local/auth', url), {})
  const { urls } = consoleUrls(node.node.adminAddresses, undefined)
  expect(urls).toEqual([`http://127.0.0.1:${node.port}/_console/`])
  expect((await signIn(urls[0] ?? '')).status).toBe(200)
  // The URL that earlier versions printed.
  expect((await signIn(`http://0.0.0.0:${node.port}/_console/`)).status).toBe(400)
})

test('renewing the key ends sessions of the old key on a running node, and no others', async () => {
  const provider = await startPlainProvider()
  onTestFinished(() => provider.close())
  const node = await startForTest({
    data,
    providers: [plainConfig(provider.origin, { form: 'exact' })],
  })
  onTestFinished(() => node.stop())
  const whoIs = async (cookie: string) =>
    (await sendRequest(node.port, 'GET', '/_api/session', { headers: { Cookie: cookie } })).json
  const cookieOf = (lines: readonly string[] = [], name: string) =>
    lines.map((line) => line.split(';')[0] ?? '').find((pair) => pair.startsWith(name)) ?? ''

  const operator = await operatorSession(node)
  const started = await sendRequest(node.port, 'POST', '/_oauth2/oauth2/auth')
  const csrf = cookieOf(started.headers['set-cookie'], 'oauth2_csrf')
  const callback = `/_oauth2/oauth2/auth?state=${csrf.split('=')[1]}&code=c`
  const back = await sendRequest(node.port, 'GET', callback, { headers: { Cookie: csrf } })
  const other = cookieOf(back.headers['set-cookie'], 'gatehouse_')
  expect(await whoIs(operator)).toMatchObject({ person: { username: 'local:operator' } })
  expect(await whoIs(other)).toMatchObject({ person: { username: 'oauth2:583231' } })

  const old = keyOf()
  const renew = [MAIN, 'operator-key', '--renew', '--data', data]
  const { stdout } = await promisify(execFile)(process.execPath, renew)
  expect(stdout).toBe(`${keyOf()}\n`)
  expect(keyOf()).not.toBe(old)
  // The node notices the renewed key at the next request, without a notification.
  expect(await whoIs(operator)).toBeNull()
  expect(await whoIs(other)).toMatchObject({ person: { username: 'oauth2:583231' } })
  expect((await node.request('GET', '/_api/endpoint')).status).toBe(200)

  const browser = createBrowser()
  const page = await browser.post(`http://127.0.0.1:${node.port}/_oauth2/local/auth`, {})
  expect((await browser.post(page.url, { key: old })).status).toBe(403)
  expect(await whoIs(await operatorSession(node))).toMatchObject({ person: { role: 'admin' } })
})
