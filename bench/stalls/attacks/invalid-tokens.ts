import { createTokenText } from '../../../server/access/secrets/secret-text.ts'
import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: '3,000 invalid tokens, 30 at a time',
  async prepare({ send }) {
    const tokens = Array.from({ length: 3_000 }, createTokenText)
    const guess = async () => {
      for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
        const headers = { Authorization: `Bearer ${token}` }
        await send('GET', '/_api/endpoint', undefined, { headers }).catch(() => {})
      }
    }
    return () => Promise.all(Array.from({ length: 30 }, guess))
  },
}
