import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'

const CONNECTIONS = 40
const REQUESTS = 50
const DURATION = 15_000

export const attack: Attack = {
  name: '40 connections pipeline 16 MiB pages, unread',
  isLong: true,
  settings: { NODE_OPTIONS: '--max-old-space-size=1024' },
  async prepare({ host, port, send, count, createToken }) {
    const text = 'x'.repeat(1_000_000)
    for (let n = 0; n < 20; n++) await send('POST', '/large', { id: `l${n}`, text })
    const token = await createToken('viewer')
    const request = `GET /large?limit=100 HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`
    return async () => {
      const sockets = Array.from({ length: CONNECTIONS }, () => {
        const socket = connect({ host, port }, () => socket.write(request.repeat(REQUESTS)))
        socket.pause()
        socket.on('error', ({ message }) => count(message))
        return socket
      })
      await pause(DURATION)
      for (const socket of sockets) socket.destroy()
    }
  },
}
