import type { Attack } from '../attack.ts'

/** Number of documents that the query names. */
const DOCUMENTS = 16

export const attack: Attack = {
  name: `a query for ${DOCUMENTS} documents of 1 MiB by id`,
  async prepare({ send }) {
    const objects = Array(340_000).fill({})
    const ids = Array.from({ length: DOCUMENTS }, (_, n) => `d${n}`)
    for (const id of ids) await send('POST', '/large', { id, objects })
    return async () => {
      await send('GET', `/large?id:in=${ids.join()}&fields=id`)
    }
  },
}
