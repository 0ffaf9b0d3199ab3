import { connect } from 'node:net'
import { sendRequest } from '../../server/test-support/start.testing.ts'

/** First port of every subject, below the ephemeral ports of the system. */
export const FIRST_PORT = 10_000

/** Maximum time until a condition holds, ms. */
const TIMEOUT = 120_000

let hosts = 0

/** Returns the ports on which a subject of this size listens at first. */
export const portsOf = (size: number): number[] =>
  Array.from({ length: size }, (_, at) => FIRST_PORT + at)

/**
 * Returns an unused address in 127.0.0.0/8, all of which Linux serves. Each subject listens on its own
 * address, so its ports do not conflict with other subjects, other runs or tests on 127.0.0.1.
 */
export const nextHost = (): string =>
  `127.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}.${++hosts}`

/**
 * Sends a request.
 *
 * @throws if the status is not 2xx.
 */
export async function requestOk(
  host: string,
  port: number,
  method: string,
  path: string,
  body?: unknown,
  credentials: Record<string, string> = {},
) {
  const type: Record<string, string> =
    body === undefined ? {} : { 'Content-Type': 'application/json' }
  const headers = { ...type, ...credentials }
  const response = await sendRequest(port, method, path, { host, body, headers })
  if (response.status >= 200 && response.status < 300) return response
  throw new Error(`${method} ${path} answered ${response.status}: ${response.text}`)
}

/** Returns whether a port responds with 200, over a new connection. */
export const respondsOk = (host: string, port: number, path: string): Promise<boolean> =>
  sendRequest(port, 'GET', path, { host }).then(
    ({ status }) => status === 200,
    () => false,
  )

/** Returns whether the system refuses connections to a port. */
export function isClosed(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

/**
 * Polls without a pause until the condition holds.
 *
 * @throws if it does not hold after two minutes.
 */
export async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not hold in time')
  }
}
