import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterEach, expect, inject, test } from 'vitest'
import { createUntilAvailable } from '../../availability/until-available.ts'
import { openStore } from '../../open.ts'

/** Messages of PostgreSQL's protocol. */
const message = (type: string, body: string) => {
  const header = Buffer.from(`${type}\0\0\0\0`)
  header.writeInt32BE(Buffer.byteLength(body, 'latin1') + 4, 1)
  return Buffer.concat([header, Buffer.from(body, 'latin1')])
}
const error = (code: string, text: string) => message('E', `SFATAL\0C${code}\0M${text}\0\0`)
const parameter = (name: string, value: string) => message('S', `${name}\0${value}\0`)
const AUTHENTICATED = message('R', '\0\0\0\0')
const READY = message('Z', 'I')

let server: Server
const sockets = new Set<Socket>()

/** Starts a server that handles each connection with a function. Returns its address. */
async function serve(handle: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    handle(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server?.close()
})

/** Opens a store like a node that starts. Returns the error that ends the start, or a wait. */
async function start(databaseUrl: string): Promise<{ failed: unknown } | { waits: string }> {
  const waiting = new AbortController()
  const untilAvailable = createUntilAvailable({
    signal: waiting.signal,
    onWait: ({ message }) => waiting.abort({ waits: message }),
  })
  return openStore({ databaseUrl }, 'node', undefined, untilAvailable).then(
    () => Promise.reject(new Error('opened')),
    (reason) => (reason === waiting.signal.reason ? reason : { failed: reason }),
  )
}

const failure = (address: string, reason: string) => ({
  failed: {
    code: 'unavailable',
    message: `PostgreSQL at ${address}/d cannot be used: ${reason}.`,
  },
})

test.each(['13.22 (Debian 13.22-1)', '9.6.24'])('rejects version %s', async (version) => {
  const address = await serve((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([AUTHENTICATED, parameter('server_version', version), READY]))
      // Such a server does not have all settings.
      socket.on('data', () => {
        const unknown = error('42704', 'unrecognized configuration parameter "jit"')
        socket.write(Buffer.concat([unknown, READY]))
      })
    })
  })
  expect(await start(`postgres://u@${address}/d`)).toMatchObject(
    failure(address, `its version is ${version}, and Gatehouse needs 14 or newer`),
  )
})

test('rejects a server without TLS if the URL requires it', async () => {
  const url = new URL(inject('postgresUrl'))
  url.pathname = '/d'
  url.search = 'sslmode=verify-full'
  expect(await start(url.href)).toMatchObject(
    failure(url.host, 'it does not support TLS, which the database URL requires'),
  )
})

test('rejects a server whose certificate is not trusted', async () => {
  const folder = join(import.meta.dirname, '../../../endpoints/registry/testdata')
  const [cert, key] = ['cert', 'key'].map((name) => readFileSync(join(folder, `first.${name}.pem`)))
  const address = await serve((socket) => {
    socket.once('data', () => {
      socket.write('S')
      new TLSSocket(socket, { isServer: true, cert, key }).on('error', () => {})
    })
  })
  expect(await start(`postgres://u@${address}/d?sslmode=verify-full`)).toMatchObject({
    failed: {
      code: 'unavailable',
      message: expect.stringContaining('the TLS connection failed: self-signed certificate'),
    },
  })
})

/** Starts a server that responds to the beginning of a TLS handshake. Returns its database URL. */
async function respondToHandshake(response: Buffer): Promise<string> {
  const address = await serve((socket) => {
    socket.once('data', () => {
      socket.write('S')
      socket.once('data', () => socket.end(response))
    })
  })
  return `postgres://u@${address}/d?sslmode=verify-full`
}

/** Returns a fatal alert (RFC 8446 §6). */
const alert = (description: number) => Buffer.from([21, 3, 3, 0, 2, 2, description])

test.each([
  ['handshake failure', alert(40)],
  ['bad certificate', alert(42)],
  ['certificate expired', alert(45)],
  ['unknown ca', alert(48)],
  ['protocol version', alert(70)],
  ['certificate required', alert(116)],
  ['wrong version number', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
])('fails because of the TLS error %s', async (reason, response) => {
  expect(await start(await respondToHandshake(response))).toMatchObject({
    failed: {
      code: 'unavailable',
      message: expect.stringMatching(
        new RegExp(`cannot be used: the TLS connection failed: ([a-z0-9/]+ alert )?${reason}\\.$`),
      ),
    },
  })
})

test('waits for a server with an internal error during the TLS handshake', async () => {
  expect(await start(await respondToHandshake(alert(80)))).toEqual({
    waits: expect.stringMatching(/cannot be used: \w+ alert internal error\.$/),
  })
})

test.each([
  ['a wrong password', '28P01', 'password authentication failed for user "u"'],
  ['a missing database', '3D000', 'database "d" does not exist'],
])('fails because of %s', async (_what, code, text) => {
  const address = await serve((socket) => socket.once('data', () => socket.end(error(code, text))))
  expect(await start(`postgres://u:p@${address}/d`)).toMatchObject(failure(address, text))
})

test('fails if the URL lacks the password', async () => {
  const address = await serve((socket) => {
    socket.once('data', () => {
      socket.write(message('R', '\0\0\0\x0aSCRAM-SHA-256\0\0'))
      socket.once('data', () => socket.write(message('R', '\0\0\0\x0br=nonce,s=c2FsdA==,i=4096')))
    })
  })
  expect(await start(`postgres://u@${address}/d`)).toMatchObject({
    failed: { code: 'unavailable', message: expect.stringContaining('password must be a string') },
  })
})

test.each([
  ['starts', '57P03', 'the database system is starting up'],
  ['has too many connections', '53300', 'sorry, too many clients already'],
])('waits for a server that %s', async (_what, code, text) => {
  const address = await serve((socket) => socket.once('data', () => socket.end(error(code, text))))
  expect(await start(`postgres://u@${address}/d`)).toEqual({
    waits: `PostgreSQL at ${address}/d cannot be used: ${text}.`,
  })
})

test('waits for a server that closes the connection during the TLS handshake', async () => {
  const address = await serve((socket) => {
    socket.once('data', () => {
      socket.write('S')
      socket.once('data', () => socket.destroy())
    })
  })
  expect(await start(`postgres://u@${address}/d?sslmode=verify-full`)).toHaveProperty('waits')
})

test('waits for a server that does not listen', async () => {
  expect(await start('postgres://u@127.0.0.1:1/d')).toHaveProperty('waits')
})
