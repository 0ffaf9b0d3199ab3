import { createServer } from 'node:net'

/** Listens on a port of 127.0.0.1, as another program would. Rejects if the port is taken. */
export async function listen(port: number): Promise<{ close(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return { close: () => new Promise((resolve) => server.close(() => resolve())) }
}
