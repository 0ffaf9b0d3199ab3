import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { openStore } from '../storage/open.ts'
import { MAIN } from '../test-support/server-process.testing.ts'
import { sendRequest, startForTest, type TestNode } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'

// Tests the process itself: its output and its exit codes.

const children: ChildProcess[] = []
let data: string

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function gatehouse(...argv: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [MAIN, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    out += part
  })
  child.stderr?.setEncoding('utf8').on('data', (part) => {
    err += part
  })
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }))
  })
  return { child, ended }
}

/** Resolves when the process prints a line with the text. */
const printed = (child: ChildProcess, text: string) =>
  new Promise<void>((resolve) => {
    child.stdout?.on('data', (part: string) => part.includes(text) && resolve())
  })

beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(data, { recursive: true }))

describe('gatehouse', () => {
  it('prints its help and its version, with code 0', async () => {
    const help = await gatehouse('--help').ended
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toContain('endpoint add ADDRESS')
    const version = await gatehouse('--version').ended
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  it('exits with code 2 and reports every error, and starts nothing', async () => {
    const ended = await gatehouse('--drain=x', '--log=y', '--endpoint=z').ended
    expect(ended).toMatchObject({ code: 2, out: '' })
    expect(ended.err.trim().split('\n')).toHaveLength(3)
  })

  it('exits with code 1 and without a stack trace if its output cannot be written', async () => {
    const { child, ended } = gatehouse('--help')
    child.stdout?.destroy()
    expect(await ended).toEqual({ code: 1, out: '', err: '' })
  })

  it('exits with code 1 and a message if no endpoint can be opened at the first start, after a warning about unknown variables', async () => {
    vi.stubEnv('GATEHOUSE_PORT', '8531')
    const folder = join(data, 'never')
    const flags = ['--data', folder, '--endpoint', 'tcp://192.0.2.1:8531']
    const ended = await gatehouse(...flags).ended
    expect(ended.code).toBe(1)
    expect(ended.err).toContain('192.0.2.1 is not an address of this machine')
    expect(ended.out).toContain('GATEHOUSE_PORT is not a setting and is ignored.')
    // A failed first start stores nothing.
    expect(await gatehouse('endpoint', 'list', '--data', folder).ended).toMatchObject({
      code: 0,
      out: '',
    })
  })
})

describe('a command', () => {
  it.each([
    ['endpoint', 'list'],
    ['endpoint', 'add', 'tcp://127.0.0.1:8533'],
    ['endpoint', 'remove', 'tcp://127.0.0.1:8533'],
    ['token', 'create', '--name', 'a', '--role', 'admin'],
    ['user', 'role', 'github:1', 'admin'],
    ['operator-key'],
    ['secrets', 'discard'],
    ['audit', 'verify'],
    ['backup', join(tmpdir(), 'gatehouse-no-backup')],
  ])('fails and creates nothing if the data folder does not exist: %s %s', async (...words) => {
    const folder = join(data, 'mistyped')
    expect(await gatehouse(...words, '--data', folder).ended).toEqual({
      code: 1,
      out: '',
      err: `The data folder ${folder} contains no Gatehouse database.\n`,
    })
    expect(existsSync(folder)).toBe(false)
  })
})

describe('a running node', () => {
  it('ignores the SIGINT that npm forwards after Ctrl-C', async () => {
    let node: Ended
    let duration: number
    do {
      const [port] = await freePorts(1)
      const flags = ['--data', join(data, 'signals'), '--endpoint', `tcp://127.0.0.1:${port}`]
      const { child, ended } = gatehouse(...flags, '--ready-delay', '60')
      await printed(child, 'is ready')
      const begun = performance.now()
      child.kill('SIGINT')
      await printed(child, '"stopping"')
      child.kill('SIGINT')
      child.kill('SIGTERM')
      node = await ended
      duration = performance.now() - begun
      // A third signal ends it with code 1. On a busy machine, the second one may come too late to
      // repeat the first: then try again.
    } while (node.code === 1 && duration > 1_000)
    expect(node).toMatchObject({ code: 0, out: expect.stringContaining('"stopped"') })
  })
})

describe('a second node', () => {
  it('is rejected on the same data folder, with a message', async () => {
    const node = await startForTest()
    try {
      const ended = await gatehouse('--data', node.data, '--endpoint', 'tcp://127.0.0.1:8532').ended
      expect(ended.code).toBe(1)
      expect(ended.err).toContain(`Another Gatehouse process is using the data folder ${node.data}`)
      expect((await node.request('GET', '/_api/endpoint')).status).toBe(200)
    } finally {
      await node.stop()
    }
  })
})

describe('gatehouse endpoint, beside a running node', () => {
  let port: number
  let address: string
  let node: TestNode
  const command = (...words: string[]) => gatehouse('endpoint', ...words, '--data', node.data).ended

  beforeAll(async () => {
    ;[port = 0] = await freePorts(1)
    address = `tcp://127.0.0.1:${port}`
    node = await startForTest()
  })
  afterAll(() => node.stop())

  it('add: the node has opened it by the next request', async () => {
    const added = await command('add', address.replace('tcp', 'TCP'), '--databases', 'a,b')
    expect(added).toMatchObject({ code: 0, out: `${address}\n`, err: '' })
    const records = (await node.request('GET', '/_api/endpoint')).json
    expect(records).toContainEqual({ endpoint: address, databases: ['a', 'b'] })
    expect((await sendRequest(port, 'GET', '/_api/health')).status).toBe(404)
  })

  it('add with an existing address: the node remaps it', async () => {
    expect((await command('add', address)).code).toBe(0)
    const listed = await command('list')
    expect(listed.out.split('\n')).toContain(`${address}\t*`)
    // The node syncs by itself, without a request about endpoints.
    await expect.poll(async () => (await sendRequest(port, 'GET', '/_api/health')).status).toBe(200)
  })

  it('remove: the node closes it without a request', async () => {
    expect(await command('remove', address)).toMatchObject({ code: 0, out: `${address}\n` })
    await vi.waitFor(
      () => expect(sendRequest(port, 'GET', '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' }),
      WAIT,
    )
  })

  it('reports errors with code 1 and a message', async () => {
    expect(await command('remove', address)).toMatchObject({
      code: 1,
      err: `There is no endpoint ${address}.\n`,
    })
    expect(await command('remove', node.address)).toMatchObject({
      code: 1,
      err: expect.stringContaining('the last endpoint that serves _system'),
    })
    expect(await command('add', 'tcp://127.1:80')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not an IPv4 address'),
    })
    expect(await command('add', address, '--databases', '1a')).toMatchObject({ code: 1 })
    expect(await command('add', address, '--databases', ',')).toMatchObject({
      code: 1,
      err: expect.stringContaining('at least one name'),
    })
  })
})

describe('gatehouse audit verify, beside a running node', () => {
  it('prints a value for --last, and exits with code 1 for an invalid log', async () => {
    const node = await startForTest()
    try {
      const flags = ['--data', node.data]
      const verify = (...more: string[]) => gatehouse('audit', 'verify', ...more, ...flags).ended
      const { code, out, err } = await verify()
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(/^\d+:[0-9a-f]{64}\n$/)

      const address = `tcp://127.0.0.1:${await freePorts(1)}`
      const added = await gatehouse('endpoint', 'add', address, ...flags).ended
      expect(added.code).toBe(0)
      const { rows } = (await node.request('GET', '/_api/audit?who=command-line&limit=1')).json
      expect(rows).toMatchObject([{ action: 'endpoint.add', by: 'command-line', address: null }])
      const later = await verify('--last', out.trim())
      expect(later).toMatchObject({ code: 0, out: `${rows[0].seq}:${rows[0].hash}\n` })

      const store = await openStore({ data: node.data }, 'tool')
      await store.db.updateTable('audit').set({ actor: 'x' }).where('seq', '=', 1).execute()
      await store.close()
      expect(await verify()).toEqual({
        code: 1,
        out: '',
        err: 'The hash of row 1 does not match: it, or the row before it, was changed.\n',
      })
    } finally {
      await node.stop()
    }
  })
})
