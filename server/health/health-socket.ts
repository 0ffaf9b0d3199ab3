import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Logger } from 'pino'
import { UNIX_PATH_BYTES } from '../contract/endpoints/address.ts'
import { type Health, health } from '../contract/health.ts'
import { Failure, systemCode } from '../failure.ts'
import { HEALTH_SOCKET } from '../storage/data-folder.ts'

/** Maximum time for a node to respond, ms. The health check of the image takes at most 3 s. */
const TIMEOUT = 2_000

export interface HealthSocketDeps {
  /** The data folder. With PostgreSQL, it may not exist. */
  readonly data: string
  readonly read: () => Health
  /** Removes the socket that a killed node has left. Throws if another node uses it. */
  readonly clearStaleSocket: (path: string) => Promise<void>
  readonly log: Pick<Logger, 'info'>
}

/**
 * Opens a Unix socket in the data folder (mode 0600), which sends the health of this node to each
 * client and reads nothing. A node works without it, so a failure is only logged.
 *
 * @returns a function that closes it.
 */
export async function openHealthSocket(deps: HealthSocketDeps): Promise<() => void> {
  const server = createServer((socket) => {
    // The client may have disconnected already.
    socket.on('error', () => {})
    socket.end(JSON.stringify(deps.read()), () => socket.destroy())
  })
  try {
    const path = socketPath(deps.data)
    await deps.clearStaleSocket(path)
    server.listen(path)
    await once(server, 'listening')
    chmodSync(path, 0o600)
  } catch (error) {
    deps.log.info(
      { reason: (error as Error).message },
      'the command "gatehouse health" is not available',
    )
  }
  // Such as too many open files.
  server.on('error', () => {})
  return () => server.close()
}

/**
 * Returns the health of the node that runs on a data folder.
 *
 * @throws Failure `unavailable` if there is none, or if it does not respond.
 */
export async function readHealth(data: string): Promise<Health> {
  const path = socketPath(data)
  const signal = AbortSignal.timeout(TIMEOUT)
  try {
    return health.parse(JSON.parse(await text(connect({ path, signal }))))
  } catch (cause) {
    throw new Failure('unavailable', explain(cause, data, path), { cause })
  }
}

function explain(error: unknown, data: string, path: string): string {
  const code = systemCode(error)
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return `No node is running on the data folder ${data}, or it has not opened ${path} yet.`
  }
  if (code === 'ABORT_ERR') return `The node did not respond within ${TIMEOUT / 1000} seconds.`
  return `The health of the node cannot be read from ${path}: ${(error as Error).message}.`
}

/** @throws Failure `unavailable` if the path is too long. */
function socketPath(data: string): string {
  const path = join(data, HEALTH_SOCKET)
  if (Buffer.byteLength(path) <= UNIX_PATH_BYTES) return path
  throw new Failure(
    'unavailable',
    `The path ${path} is too long for a Unix socket, which can have ${UNIX_PATH_BYTES} bytes. Use a data folder with a shorter path.`,
  )
}
