import { KEYS } from '../../../server/contract/json/json-limits.ts'
import type { Attack } from '../attack.ts'

const ROUNDS = 3

export const attack: Attack = {
  name: `${ROUNDS} × 1 MiB of different keys, then a patch`,
  async prepare({ send }) {
    const keys = (prefix: string) =>
      Object.fromEntries(Array.from({ length: KEYS }, (_, n) => [`${prefix}${n}`, 1]))
    const fields = {
      a: keys('a'),
      b: keys('b'),
      c: Array.from({ length: 12_000 }, (_, n) => ({ [`c${n}`]: n })),
    }
    return async () => {
      for (let round = 0; round < ROUNDS; round++) {
        await send('POST', '/keys', { id: `${round}`, ...fields })
        await send('PATCH', `/keys/${round}`, { n: round, a: { a0: 2 } })
      }
    }
  },
}
