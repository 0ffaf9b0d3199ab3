import { connect } from 'node:tls'
import type { Attack } from '../attack.ts'

const HANDSHAKES = 4_000

export const attack: Attack = {
  name: '4,000 TLS handshakes at once',
  async prepare({ host, port, send, count }) {
    const securePort = port + 1
    const endpoint = `ssl://${host}:${securePort}`
    await send('PUT', '/_api/certificate/bench', { kind: 'local', names: [host] })
    await send('PUT', `/_api/policy?endpoint=${endpoint}`, { tls: { certificates: ['bench'] } })
    await send('POST', '/_api/endpoint', { endpoint, databases: [] })
    return () =>
      Promise.all(
        Array.from({ length: HANDSHAKES }, async () => count(await handshake(host, securePort))),
      )
  },
}

/** Completes a handshake, and returns how it ended. */
function handshake(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false })
    socket.once('secureConnect', () => {
      socket.destroy()
      resolve('accepted')
    })
    socket.once('error', ({ code = 'error' }: NodeJS.ErrnoException) => resolve(code))
    socket.once('close', () => resolve('closed'))
  })
}
