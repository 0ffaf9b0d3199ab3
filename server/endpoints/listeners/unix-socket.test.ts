import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { boundSockets, clearStaleSocket } from './unix-socket.ts'

/** How often several processes replace a socket at once. */
const ROUNDS = 100

let folder: string
let path: string

/** Leaves a socket without a process at {@link path}. */
async function leaveStale(): Promise<void> {
  const server = createServer().listen(`${path}.moving`)
  await once(server, 'listening')
  // The server removes its original path when it closes, so rename the socket first.
  renameSync(`${path}.moving`, path)
  await new Promise((resolve) => server.close(resolve))
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sockets-'))
  path = join(folder, 'a.sock')
  await leaveStale()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('removes a socket that no process has bound', async () => {
  await clearStaleSocket(path)
  expect(existsSync(path)).toBe(false)
})

test('keeps a socket that a process has bound but does not listen on yet', async () => {
  const bound = async () => new Set([path])
  await expect(clearStaleSocket(path, bound)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(existsSync(path)).toBe(true)
})

test('lets one of several processes replace a socket, and does not remove the new one', async () => {
  // As other processes do, which see each other's sockets.
  const replace = async () => {
    await clearStaleSocket(path)
    const server = createServer((socket) => socket.destroy())
    server.listen(path)
    await once(server, 'listening')
    return server
  }
  for (let round = 0; round < ROUNDS; round++) {
    const results = await Promise.allSettled([replace(), replace(), replace()])
    const [server, ...others] = results.flatMap((each) =>
      each.status === 'fulfilled' ? [each.value] : [],
    )
    expect(others).toEqual([])
    const client = connect(path)
    await once(client, 'connect')
    client.destroy()
    await new Promise((resolve) => server?.close(resolve))
    await leaveStale()
  }
  expect(readdirSync(folder)).toEqual(['a.sock'])
})

test('finds the bound sockets on systems that list them', async () => {
  const own = join(folder, 'bound by us')
  const server = createServer().listen(own)
  await once(server, 'listening')
  expect((await boundSockets()).has(own)).toBe(process.platform === 'linux')
  await new Promise((resolve) => server.close(resolve))
  expect((await boundSockets()).has(own)).toBe(false)
})
