import { createServer } from 'node:net'

/** Another program that holds a port of 127.0.0.1, until it is closed. Fails if it is taken. */
export async function listen(port: number): Promise<{ close(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return { close: () => new Promise((resolve) => server.close(() => resolve())) }
}
