import { STRUCTURES } from '../../../server/contract/json/json-limits.ts'
import type { Attack } from '../attack.ts'

const INDEXES = 16
const FIELDS = 8
const DOCUMENTS = 10

export const attack: Attack = {
  name: 'documents of 1 MiB in 16 unique indexes',
  async prepare({ send }) {
    // Each field contains the next one, so that each has almost the whole document as its value.
    const paths = Array.from({ length: FIELDS }, (_, n) =>
      Array(n + 1)
        .fill('a')
        .join('.'),
    )
    for (let n = 0; n < INDEXES; n++) {
      const path = `/_index/large/i${n}`
      // A unique index of all of these fields is rejected.
      await send('PUT', path, { fields: paths, unique: true })
      await send('PUT', path, { fields: [paths[n % FIELDS]], unique: true })
    }
    return async () => {
      for (let n = 0; n < DOCUMENTS; n++) {
        const list = `[${n}${',{}'.repeat(STRUCTURES - FIELDS - 1)}${',0'.repeat(400_000)}]`
        await send('POST', '/large', `${'{"a":'.repeat(FIELDS)}${list}${'}'.repeat(FIELDS)}`)
      }
    }
  },
}
