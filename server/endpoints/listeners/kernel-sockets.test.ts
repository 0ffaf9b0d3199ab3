import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { freePorts } from './free-ports.testing.ts'
import {
  expectListening,
  listeningAddresses,
  parseTcp,
  parseUnix,
} from './kernel-sockets.testing.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listen(where: ListenOptions): Promise<Server> {
  const server = createServer().listen({ ...where, exclusive: true })
  servers.push(server)
  await once(server, 'listening')
  return server
}

test('reads the listening rows of /proc/net/tcp and no others', () => {
  const text = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2151 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 14042 1 0000 100 0 0 10 0
   1: 0100007F:2151 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 14043 1 0000 20 4 30 10 -1
 999: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14044 1 0000 100 0 0 10 0
`
  expect(parseTcp(text)).toEqual([
    { address: 'tcp://127.0.0.1:8529', inode: '14042' },
    { address: 'tcp://0.0.0.0:80', inode: '14044' },
  ])
})

test('reads the addresses of /proc/net/tcp6', () => {
  const row = (at: number, host: string) =>
    `   ${at}: ${host}:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 ${at} 1 0 100\n`
  const text = [
    'header\n',
    row(1, '00000000000000000000000001000000'),
    row(2, '00000000000000000000000000000000'),
    row(3, 'B80D0120000000000000000001000000'),
  ].join('')
  expect(parseTcp(text).map(({ address }) => address)).toEqual([
    'tcp://[::1]:8080',
    'tcp://[::]:8080',
    'tcp://[2001:db8::1]:8080',
  ])
})

test('reads the listening rows of /proc/net/unix that have a path', () => {
  const text = `Num       RefCount Protocol Flags    Type St Inode Path
ffff8881: 00000002 00000000 00010000 0001 01 20001 /run/a.sock
ffff8882: 00000003 00000000 00000000 0001 03 20002 /run/a.sock
ffff8883: 00000002 00000000 00010000 0001 01 20003 @abstract
ffff8884: 00000002 00000000 00010000 0001 01 20004 /run/with a space
ffff8885: 00000003 00000000 00000000 0001 03 20005
`
  expect(parseUnix(text)).toEqual([
    { address: 'unix:///run/a.sock', inode: '20001' },
    { address: 'unix:///run/with a space', inode: '20004' },
  ])
})

test('shows the sockets of a process while they listen', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-kernel-'))
  const before = await listeningAddresses(process.pid)
  const [port = 0, other = 0] = await freePorts(2)
  const path = join(folder, 'a.sock')
  const opened = [
    await listen({ host: '127.0.0.1', port }),
    await listen({ host: '::1', port: other, ipv6Only: true }),
    await listen({ path }),
  ]
  // The sockets of an established connection do not listen.
  const connection = connect(port, '127.0.0.1')
  await once(connection, 'connect')
  const own = [`tcp://127.0.0.1:${port}`, `tcp://[::1]:${other}`, `unix://${path}`]
  await expectListening(process.pid, [...before, ...own])
  await expect(expectListening(process.pid, before)).rejects.toThrow(/to deeply equal/)
  connection.destroy()
  for (const server of opened) server.close()
  await expectListening(process.pid, before)
  await expect(expectListening(process.pid, own)).rejects.toThrow(/to deeply equal/)
  rmSync(folder, { recursive: true })
})
