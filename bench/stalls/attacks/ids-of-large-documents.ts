import { STRUCTURES } from '../../../server/contract/json/json-limits.ts'
import type { Attack } from '../attack.ts'

/** Number of documents that the query names. */
const DOCUMENTS = 16

export const attack: Attack = {
  name: `a query for ${DOCUMENTS} documents of 1 MiB by id`,
  async prepare({ send }) {
    const objects = Array(STRUCTURES - 2).fill({})
    const numbers = Array(400_000).fill(0)
    const ids = Array.from({ length: DOCUMENTS }, (_, n) => `d${n}`)
    for (const id of ids) await send('POST', '/large', { id, objects, numbers })
    return async () => {
      await send('GET', `/large?id:in=${ids.join()}&fields=id`)
    }
  },
}
