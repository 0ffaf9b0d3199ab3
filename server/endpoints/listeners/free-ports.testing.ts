import { createServer } from 'node:net'

/** First port for tests, above those of browser tests and below the ephemeral port range. */
const FIRST = 22_000

/** Number of ports per Vitest worker, so that two workers never try the same port. */
const STRETCH = 2_000
const worker = Number(process.env.VITEST_POOL_ID ?? 1)
const base = FIRST + (worker - 1) * STRETCH

// Concurrent runs on one machine start at different ports.
let next = (process.pid * 37) % STRETCH

/**
 * Returns `count` ports that are free on all IPv4 and IPv6 addresses of this machine.
 *
 * @throws if there are not enough.
 */
export async function freePorts(count: number): Promise<number[]> {
  const found: number[] = []
  for (let tries = 0; tries < STRETCH && found.length < count; tries++) {
    const port = base + (next++ % STRETCH)
    if ((await canListen(port, '0.0.0.0')) && (await canListen(port, '::'))) found.push(port)
  }
  if (found.length < count) throw new Error(`${count} ports are not free from ${base} on`)
  return found
}

/** Error codes of addresses that this machine does not have, such as those of IPv6. */
const NO_ADDRESS: readonly (string | undefined)[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL']

/** Whether no socket is bound there now. */
export function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(NO_ADDRESS.includes(code)))
    server.listen({ port, host, ipv6Only: true, exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
