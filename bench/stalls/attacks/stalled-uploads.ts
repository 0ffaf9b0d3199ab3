import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'

const CONNECTIONS = 200
const DURATION = 15_000

/** Connections that are opened together, and the time until the next ones, ms. */
const AT_ONCE = 20
const BETWEEN = 50

/** Bytes that each connection sends before it stops. */
const SENT = 256 * 1024

export const attack: Attack = {
  name: '200 uploads of 64 MiB stop after 256 KiB',
  isLong: true,
  async prepare({ host, port, token, count, send }) {
    await send('POST', '/uploads', [{ text: 'x' }])
    const head = [
      'POST /uploads HTTP/1.1',
      `Host: ${host}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${64 * 1024 * 1024}`,
    ]
    const part = `[${`{"text":"${'x'.repeat(1_000)}"},`.repeat(SENT / 1_012)}`
    return async () => {
      const sockets: Socket[] = []
      for (let at = 0; at < CONNECTIONS; at++) {
        if (at % AT_ONCE === 0) await pause(BETWEEN)
        const socket = connect({ host, port }, () => {
          socket.write(`${head.join('\r\n')}\r\n\r\n${part}`)
        })
        socket.once('data', (data) => count(String(data).slice(9, 12)))
        socket.on('error', ({ message }) => count(message))
        sockets.push(socket)
      }
      await pause(DURATION)
      for (const socket of sockets) socket.destroy()
    }
  },
}
