import type { Attack } from '../attack.ts'

const CLIENTS = 300

export const attack: Attack = {
  name: `${CLIENTS} clients change one document of 30 KB`,
  async prepare({ send }) {
    const list = Array.from({ length: 5_000 }, (_, n) => 1_000 * n)
    await send('POST', '/items', { id: 'one', list })
    return async () => {
      const changes = Array.from({ length: CLIENTS }, (_, n) => send('PATCH', '/items/one', { n }))
      await Promise.all(changes)
    }
  },
}
