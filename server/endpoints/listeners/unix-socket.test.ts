import { once } from 'node:events'
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { boundSockets, clearStaleSocket } from './unix-socket.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-sockets-'))
  path = join(folder, 'a.sock')
  const server = createServer().listen(`${path}.moving`)
  await once(server, 'listening')
  // The server removes its original path when it closes, so rename the socket first.
  renameSync(`${path}.moving`, path)
  await new Promise((resolve) => server.close(resolve))
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

test('finds the bound sockets on systems that list them', async () => {
  const own = join(folder, 'bound by us')
  const server = createServer().listen(own)
  await once(server, 'listening')
  expect((await boundSockets()).has(own)).toBe(process.platform === 'linux')
  await new Promise((resolve) => server.close(resolve))
  expect((await boundSockets()).has(own)).toBe(false)
})
