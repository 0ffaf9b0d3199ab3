import type { Attack } from '../attack.ts'

const DOCUMENTS = 40
const CLIENTS = 16

export const attack: Attack = {
  name: 'a viewer filters and sorts documents of 1 MiB',
  isLong: true,
  async prepare({ send, createToken }) {
    const text = 'a'.repeat(500_000)
    for (let n = 0; n < DOCUMENTS; n++) {
      const list = Array.from({ length: 200_000 }, () => 1)
      await send('POST', '/big', JSON.stringify({ text: text + n, list }))
    }
    const token = await createToken('viewer')
    const headers = { Authorization: `Bearer ${token}` }
    // The searches are the slowest that a value of the maximum length allows.
    const searched = `${'a'.repeat(99)}b${'a'.repeat(99)}`
    const filters = Array.from({ length: 45 }, (_, n) => `text:ne=${n}`)
    const queries = [
      `text:contains=${searched}`,
      `list:contains=2`,
      `${Array.from({ length: 25 }, () => `text:ne=${searched}&list:ne=[1]`).join('&')}&sort=-text`,
      `${filters.join('&')}&list:contains=1&list:contains=2&list:contains=3&sort=text`,
      'sort=text&fields=id',
    ]
    return async () => {
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          for (const query of queries) await send('GET', `/big?${query}`, undefined, { headers })
        }),
      )
    }
  },
}
