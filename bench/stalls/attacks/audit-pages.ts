import type { Attack } from '../attack.ts'

/** Number of changes of the schema. The audit log has each with its old and new schema. */
const CHANGES = 32
const REQUESTS = 8

export const attack: Attack = {
  name: `${REQUESTS} pages of the audit log with 4 MiB of schemas`,
  async prepare({ createToken, send }) {
    await send('POST', '/_api/database', { name: 'audited' })
    const names = Array.from({ length: 21_000 }, () => [])
    for (let version = 0; version < CHANGES; version++) {
      await send('PUT', '/_db/audited/_schema/c', { names, version })
    }
    const headers = { Authorization: `Bearer ${await createToken('viewer')}` }
    return () =>
      Promise.all(
        Array.from({ length: REQUESTS }, () =>
          send('GET', '/_api/audit?limit=500', undefined, { headers }),
        ),
      )
  },
}
