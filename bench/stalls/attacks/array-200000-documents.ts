import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'an array of 200,000 documents, until its job is done',
  async prepare({ send }) {
    const array = JSON.stringify(Array.from({ length: 200_000 }, (_, n) => ({ n })))
    return async () => {
      const { headers } = await send('POST', '/many', array)
      while ((await send('GET', String(headers.location))).status === 206) {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  },
}
