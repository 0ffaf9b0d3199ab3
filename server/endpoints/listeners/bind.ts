import type { ListenOptions, Server } from 'node:net'
import { createKeyedLock } from '../../concurrency/keyed-lock.ts'

// Per process: all endpoints share one set of ports.
const locked = createKeyedLock()

/**
 * Opens a server's socket. Binds of the same port run one after the other, so that an address
 * check, which holds the port briefly, does not make an endpoint fail.
 *
 * @param checked called once the socket is open, under the lock.
 * @throws the system's error, such as `EADDRINUSE`.
 */
export function bind(
  server: Server,
  where: ListenOptions,
  checked?: () => Promise<void>,
): Promise<void> {
  return locked(String(where.port ?? where.path), async () => {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ ...where, exclusive: true }, () => {
        server.off('error', reject)
        resolve()
      })
    })
    await checked?.()
  })
}
