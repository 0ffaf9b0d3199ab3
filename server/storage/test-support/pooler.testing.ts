import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The parameters of a connection that PgBouncer accepts by default. */
const ACCEPTED = ['user', 'database', 'client_encoding', 'application_name']

/**
 * Starts a proxy on the loopback interface that rejects parameters of a connection like a
 * connection pooler.
 */
export async function startPooler(target: number) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        upstream.destroy()
      })
    }
    client.once('data', (startup) => {
      const rejected = parametersOf(startup).find((name) => !ACCEPTED.includes(name))
      if (rejected !== undefined) {
        client.end(fatalError(`unsupported startup parameter: ${rejected}`))
        return
      }
      upstream.write(startup)
      client.pipe(upstream).pipe(client)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Returns the names of the parameters in a startup message, after its length and version. */
const parametersOf = (startup: Buffer): string[] =>
  startup
    .toString('utf8', 8)
    .split('\0')
    .filter((text, at) => at % 2 === 0 && text !== '')

/** Returns an `ErrorResponse` of PostgreSQL. */
function fatalError(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`)
  const header = Buffer.from('E\0\0\0\0')
  header.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([header, fields])
}
