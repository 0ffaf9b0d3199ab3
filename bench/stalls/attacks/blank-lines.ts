import type { Attack } from '../attack.ts'

const CLIENTS = 8

export const attack: Attack = {
  name: '8 imports of 256 KiB of blank and tiny lines',
  async prepare({ send }) {
    const bodies = ['\n', ' \n', '1\n'].map((line) => line.repeat((256 * 1024) / line.length))
    return async () => {
      for (const type of ['application/x-ndjson', 'text/csv']) {
        const headers = { 'Content-Type': type }
        for (const body of bodies) {
          await Promise.all(
            Array.from({ length: CLIENTS }, () => send('POST', '/lines', body, { headers })),
          )
        }
      }
    }
  },
}
