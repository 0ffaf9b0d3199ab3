import { createServer } from 'node:net'

/** Ports for tests: below those that the system gives to outgoing connections. */
const FIRST = 21_000

/** Each worker of Vitest has so many of its own: two never try the same port at once. */
const STRETCH = 2_000
const worker = Number(process.env.VITEST_POOL_ID ?? 1)
const base = FIRST + (worker - 1) * STRETCH

// A second run on the same machine begins elsewhere.
let next = (process.pid * 37) % STRETCH

/**
 * `count` ports that are free on every address of this machine, IPv4 and IPv6.
 *
 * @throws when there are not as many.
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

/** Whether a new socket can listen there now. */
export function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, ipv6Only: true, exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
