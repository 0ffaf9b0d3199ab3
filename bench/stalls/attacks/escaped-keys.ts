import type { Attack } from '../attack.ts'

const REQUESTS = 3

export const attack: Attack = {
  name: `${REQUESTS} × 1 MiB of keys with escapes`,
  async prepare({ send }) {
    const document = `{"list":[${Array(116_000).fill('{"\\n":1}').join()}]}`
    return async () => {
      await Promise.all(Array.from({ length: REQUESTS }, () => send('POST', '/escaped', document)))
    }
  },
}
