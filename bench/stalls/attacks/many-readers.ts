import { openLoad } from '../../load/load.ts'
import { get } from '../../load/rounds.ts'
import type { Attack } from '../attack.ts'

const CONNECTIONS = 300
const DURATION = 3_000

export const attack: Attack = {
  name: `a viewer reads pages of 1,000, ${CONNECTIONS} connections`,
  async prepare({ host, port, send, count, createToken }) {
    await send('PUT', '/_index/items/by-author', { fields: ['author'] })
    const document = { author: 'ada', text: 'x'.repeat(400) }
    await send('POST', '/items', Array(2_000).fill(document))
    const token = await createToken('viewer')
    const path = '/items?author=ada&limit=1000'
    const request = get(host, port, path, `Authorization: Bearer ${token}\r\n`)
    return async () => {
      const load = await openLoad({ host, port }, request, CONNECTIONS)
      const { answers } = await load.run(DURATION)
      load.close()
      for (let answer = 0; answer < answers; answer++) count(200)
    }
  },
}
