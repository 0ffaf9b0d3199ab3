import type { Attack } from '../attack.ts'

/** Number of requests at the same time. */
const REQUESTS = 10

export const attack: Attack = {
  name: `${REQUESTS} × 1 MiB of JSON with spaces`,
  async prepare({ send }) {
    const document = `{"numbers": [${Array(260_000).fill('1.0').join()}]}`
    return async () => {
      await Promise.all(Array.from({ length: REQUESTS }, () => send('POST', '/spaced', document)))
    }
  },
}
