import { sql } from 'kysely'
import { openStore } from '../../../server/storage/open.ts'
import type { Attack } from '../attack.ts'

const ROWS = 1_000_000
const INSERT_BATCH = 50_000
/** Filters that match many rows, few, and none. */
const FILTERS = [
  'who=nobody',
  'who=github:777',
  'what=person',
  'what=session&who=nobody',
  'which=absent',
  'from=2024-01-01&to=2024-01-02&who=github:9',
  'what=endpoint&who=github:251',
]

async function fillLog(data: string): Promise<void> {
  const { db, close } = await openStore({ data }, 'tool')
  for (let from = 1_000; from < ROWS; from += INSERT_BATCH) {
    await sql`
      insert into audit (seq, at, actor, by, address, action, target, outcome, before, after, hash)
      with recursive numbers (n) as (
        select ${from} + 1 union all select n + 1 from numbers where n < ${from + INSERT_BATCH}
      )
      select n, 1700000000000 + n * 60000, 'github:' || (n % 1000), 'session', null,
        case when n % 500 = 0 then 'endpoint.map' else 'session.begin' end,
        'target' || (n % 5000), 'done', 'null', '{"databases":["a","b","c"]}', '' from numbers
    `.execute(db)
  }
  await close()
}

export const attack: Attack = {
  name: 'filters of an audit log of 1,000,000 rows',
  isLong: true,
  async prepare({ data, send, createToken }) {
    await fillLog(data)
    const headers = { Authorization: `Bearer ${await createToken('viewer')}` }
    const filter = async () => {
      for (let round = 0; round < 5; round++) {
        for (const query of FILTERS) {
          await send('GET', `/_api/audit?${query}`, undefined, { headers })
        }
      }
    }
    return () => Promise.all(Array.from({ length: 10 }, filter))
  },
}
