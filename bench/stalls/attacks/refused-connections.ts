import { connect } from 'node:net'
import type { Attack } from '../attack.ts'

const CONNECTIONS = 100_000
/** Number of connections that are open at once. */
const CONCURRENCY = 100

export const attack: Attack = {
  name: '100,000 connections that the policy refuses',
  isLong: true,
  async prepare({ host, port, send, count }) {
    const endpoint = `tcp://${host}:${port}`
    await send('PUT', `/_api/policy?endpoint=${endpoint}`, { deny: ['127.0.0.0/8'] })
    let begun = 0
    const client = async () => {
      while (begun++ < CONNECTIONS) count(await connectOnce(host, port))
    }
    return () => Promise.all(Array.from({ length: CONCURRENCY }, client))
  },
}

/** Connects, and returns how the connection ends. */
function connectOnce(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('data', () => resolve('data'))
    socket.once('error', ({ code = 'error' }: NodeJS.ErrnoException) => resolve(code))
    socket.once('close', () => resolve('closed'))
    socket.resume()
  })
}
