import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'an array of 64 MiB in 6,700 documents',
  async prepare({ send }) {
    const document = JSON.stringify({ text: 'x'.repeat(9_980) })
    const array = `[${Array.from({ length: 6_700 }, () => document).join()}]`
    return () => send('POST', '/large', array)
  },
}
