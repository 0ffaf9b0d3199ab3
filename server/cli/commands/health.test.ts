import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Health } from '../../contract/health.ts'
import { clearStaleSocket } from '../../endpoints/listeners/unix-socket.ts'
import { openHealthSocket } from '../../health/health-socket.ts'
import { forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { SETTINGS } from '../../test-support/start.testing.ts'
import { runCommand } from '../run-command.ts'

let data: string
let lines: string[]
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-health-'))
  lines = []
})
afterEach(() => rmSync(data, { recursive: true, force: true }))

const ready: Health = { alive: true, ready: true, waiting: 0, writable: true, reason: null }
const log = { info: ({ reason }: { reason: string }) => void lines.push(reason) }

const askHealth = (folder = data) =>
  runCommand({
    ...{ name: 'health', operands: [], options: {}, root: '', version: '' },
    config: { ...SETTINGS, data: folder },
  })

/** Opens the socket of a node until the test ends. */
async function open(health: Partial<Health> = {}, folder = data) {
  const close = await openHealthSocket({
    data: folder,
    read: () => ({ ...ready, ...health }),
    clearStaleSocket,
    log: log as never,
  })
  onTestFinished(close)
}

forEachEngineNode(
  (start) => {
    test('a running node is ready, and only its user can ask it', async () => {
      const node = await start({ data })
      try {
        expect(await askHealth()).toEqual(['The node is ready.'])
        expect(statSync(join(data, 'health.sock')).mode & 0o777).toBe(0o600)
      } finally {
        await node.stop()
      }
      await expect(askHealth()).rejects.toThrow(`No node is running on the data folder ${data}`)
    })
  },
  ['sqlite'],
)

describe('the command gatehouse health', () => {
  test('fails with the reason if the node is not ready', async () => {
    await open({ ready: false, reason: 'The node is stopping.' })
    await expect(askHealth()).rejects.toThrow('The node is stopping.')
  })

  test('reports a node that is ready and cannot store changes', async () => {
    await open({ writable: false, reason: 'Changes have been rejected.' })
    expect(await askHealth()).toEqual(['The node is ready. Changes have been rejected.'])
  })

  test('fails if the node does not respond', async () => {
    const timeout = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal)
    onTestFinished(() => void vi.restoreAllMocks())
    const hanging = createServer(() => timeout.abort()).listen(join(data, 'health.sock'))
    onTestFinished(() => void hanging.close())
    await once(hanging, 'listening')
    await expect(askHealth()).rejects.toThrow('The node did not respond within 2 seconds.')
  })
})

describe('the socket', () => {
  test('replaces that of a killed node', async () => {
    const path = join(data, 'health.sock')
    const killed = createServer().listen(path)
    await once(killed, 'listening')
    renameSync(path, `${path}.kept`)
    killed.close()
    await once(killed, 'close')
    renameSync(`${path}.kept`, path)
    await expect(askHealth()).rejects.toThrow('No node is running')
    await open()
    expect(await askHealth()).toEqual(['The node is ready.'])
  })

  test('of another running node is left alone', async () => {
    await open()
    await open({ ready: false })
    expect(await askHealth()).toEqual(['The node is ready.'])
    expect(lines).toEqual([expect.stringContaining('is in use')])
  })

  test('is reported and not opened if its path is too long or the folder cannot be used', async () => {
    const long = join(data, 'x'.repeat(107))
    await open({}, long)
    await expect(askHealth(long)).rejects.toThrow('is too long for a Unix socket')
    await open({}, join(data, 'missing'))
    expect(lines).toEqual([
      expect.stringContaining('is too long for a Unix socket'),
      expect.stringContaining('ENOENT'),
    ])
  })
})
