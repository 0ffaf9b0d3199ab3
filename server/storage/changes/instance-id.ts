import { randomBytes } from 'node:crypto'
import type { Store } from './open.ts'

/**
 * The id of this installation, eight hexadecimal digits: made once a store, the same on all its
 * nodes. It is no secret.
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
