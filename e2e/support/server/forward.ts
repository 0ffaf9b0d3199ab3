import { connect, createServer } from 'node:net'

/** Forwards connections to a port of 127.0.0.1 to another one, as a proxy would. */
export async function forward(port: number, to: number): Promise<AsyncDisposable> {
  const server = createServer((client) => {
    const upstream = connect(to, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return { [Symbol.asyncDispose]: async () => void server.close() }
}
