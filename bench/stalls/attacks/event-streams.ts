import { connect } from 'node:net'
import type { Attack } from '../attack.ts'

const STREAMS = 5_000
const EVENTS = 20

export const attack: Attack = {
  name: '5,000 event streams of one token, 20 events',
  async prepare({ host, port, send, count, createToken }) {
    const token = await createToken('viewer')
    const request = `GET /_api/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`
    const open = () =>
      new Promise<void>((resolve) => {
        const socket = connect({ host, port }, () => socket.write(request))
        socket.once('data', (head) => {
          count(head.toString('latin1', 9, 12))
          resolve()
        })
        socket.once('error', ({ message }) => {
          count(message)
          resolve()
        })
      })
    return async () => {
      for (let opened = 0; opened < STREAMS; opened += 50) {
        await Promise.all(Array.from({ length: 50 }, open))
      }
      for (let n = 0; n < EVENTS; n++) await send('POST', '/_api/database', { name: `d${n}` })
    }
  },
}
