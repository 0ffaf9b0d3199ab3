import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'If-Match of 15,500 quotes, 20 times by a viewer',
  async prepare({ send, createToken }) {
    await send('POST', '/quotes', { id: 'one' })
    const token = await createToken('viewer')
    const headers = { Authorization: `Bearer ${token}`, 'If-Match': `${'"'.repeat(15_500)}x` }
    return async () => {
      for (let n = 0; n < 20; n++) await send('GET', '/quotes/one', undefined, { headers })
    }
  },
}
