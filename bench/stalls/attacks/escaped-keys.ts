import { STRUCTURES } from '../../../server/contract/json/json-limits.ts'
import type { Attack } from '../attack.ts'

const REQUESTS = 3

export const attack: Attack = {
  name: `${REQUESTS} × 1 MiB of keys with escapes`,
  async prepare({ send }) {
    const objects = Array(STRUCTURES - 2).fill('{"\\n":1}')
    const document = `{"list":[${objects.join()}${',0'.repeat(200_000)}]}`
    return async () => {
      await Promise.all(Array.from({ length: REQUESTS }, () => send('POST', '/escaped', document)))
    }
  },
}
