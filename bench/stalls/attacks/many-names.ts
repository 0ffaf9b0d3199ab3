import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'a mapping of 100,000 names',
  async prepare({ send, host }) {
    const databases = Array.from({ length: 100_000 }, (_, at) => `n${at}`)
    return () => send('POST', '/_api/endpoint', { endpoint: `tcp://${host}:10002`, databases })
  },
}
