import { randomBytes } from 'node:crypto'
import type { Store } from '../store.ts'

/**
 * Returns the id of this installation: eight hexadecimal digits. It is generated once per store,
 * shared by all nodes, and not secret.
 */
export async function instanceId({ db }: Store): Promise<string> {
  await db
    .insertInto('settings')
    .values({ name: 'instance', value: randomBytes(4).toString('hex') })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'instance')
    .executeTakeFirstOrThrow()
  return value
}
