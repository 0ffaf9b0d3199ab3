import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test, vi } from 'vitest'
import { signInWithKey } from '../../test-support/operator-session.testing.ts'
import { MAIN } from '../../test-support/server-process.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'

test('A demo serves its data with its endpoints, and leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const child = spawn(process.execPath, [MAIN, 'demo'], {
    env: { PATH: process.env.PATH, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  const printed: string[] = []
  const ready = Promise.withResolvers<void>()
  createInterface(child.stdout).on('line', (line) => {
    printed.push(line)
    if (line.includes('Ctrl-C')) ready.resolve()
  })
  await Promise.race([ready.promise, exit])
  const [console = ''] = /http:\S+/.exec(printed.join('\n')) ?? []

  const port = Number(new URL(console).port)
  const read = (at: number, path: string) => fetch(`http://127.0.0.1:${at}/${path}`)
  // The second endpoint is read-only without a token, so it is at one of the next free ports.
  const ports = Array.from({ length: 8 }, (_, at) => port + 1 + at)
  const responses = await Promise.all(
    ports.map((at) =>
      read(at, 'products/p-1').then(
        ({ status }) => status,
        () => 0,
      ),
    ),
  )
  expect(responses).toContain(200)
  expect((await read(port, 'products/p-1')).status).toBe(401)
  expect(readdirSync(folder)).not.toEqual([])

  // The changes of the clients reach one webhook, and another one rejects them.
  const [key = ''] = /(?<=operator key: )\S+/.exec(printed.join('\n')) ?? []
  const headers = { Cookie: await signInWithKey(port, key) }
  const list = async (what: string): Promise<Record<string, unknown>[]> =>
    (await fetch(`http://127.0.0.1:${port}/_db/_system/_api/${what}`, { headers })).json()
  await vi.waitFor(async () => {
    expect(await list('webhook')).toMatchObject([
      { name: 'helpdesk-search', state: 'failing', lastResponse: { status: 503 } },
      { name: 'warehouse', state: 'active', lastResponse: { status: 204 } },
    ])
  }, WAIT)
  expect(await list('invitation')).toHaveLength(1)
  expect(await list('attention')).toContainEqual(expect.objectContaining({ detail: 'Paul Reyes' }))

  child.kill('SIGINT')
  expect(await exit).toEqual([0, null])
  expect(printed.at(-1)).toBe('The demo has ended, and its data was removed.')
  expect(readdirSync(folder)).toEqual([])
})
