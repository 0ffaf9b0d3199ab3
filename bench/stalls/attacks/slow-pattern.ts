import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: '40 documents against a catastrophic pattern',
  async prepare({ send }) {
    const properties = { a: { type: 'string', pattern: '^(a+)+$' } }
    await send('PUT', '/_schema/patterns', { properties })
    const document = { a: `${'a'.repeat(60)}!` }
    return async () => {
      for (let n = 0; n < 10; n++) {
        await Promise.all(Array.from({ length: 4 }, () => send('POST', '/patterns', document)))
      }
    }
  },
}
