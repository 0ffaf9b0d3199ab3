import { createServer } from 'node:net'

/** Ports for test servers, below those of unit tests (`free-ports.testing.ts`), which run beside them. */
const [FIRST, LAST] = [20_000, 21_999]
/** Each worker has its own range of ports, so that two workers never try the same port. */
const PER_WORKER = 500
const MAX_WORKERS = (LAST - FIRST + 1) / PER_WORKER

// Concurrent runs start at different ports, and no port is used twice in a run.
const start = process.pid * 7
let used = 0

/**
 * Returns a free port of 127.0.0.1 in the range of this worker.
 *
 * @param worker Playwright's `parallelIndex`
 * @throws if the whole range is taken, or if there are more workers than ranges
 */
export async function freePort(worker: number): Promise<number> {
  if (worker >= MAX_WORKERS) throw new Error(`at most ${MAX_WORKERS} workers can run`)
  const base = FIRST + worker * PER_WORKER
  for (let tries = 0; tries < PER_WORKER; tries += 1) {
    const port = base + ((start + used++) % PER_WORKER)
    if (await canListen(port)) return port
  }
  throw new Error(`every port from ${base} to ${base + PER_WORKER - 1} is taken`)
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}
