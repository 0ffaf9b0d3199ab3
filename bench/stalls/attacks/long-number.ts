import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'a document with a number of 256 KB',
  async prepare({ send }) {
    // Zeros followed by another digit: each of them may start the run of trailing zeros.
    const text = `{"n":0.1${'0'.repeat(256 * 1024)}1}`
    return () => send('POST', '/numbers', text)
  },
}
