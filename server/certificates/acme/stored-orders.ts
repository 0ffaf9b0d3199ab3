import { sql } from 'kysely'
import * as z from 'zod/mini'
import { certificateOrder } from '../../contract/certificate.ts'
import { nextRevision } from '../../storage/changes/begin-change.ts'
import type { Store } from '../../storage/store.ts'
import type { AcmeChallengesTable } from '../../storage/tables.ts'
import type { SealedSetting } from '../sealed-setting.ts'

/** The order of a certificate. Times are milliseconds since 1970. */
export const order = z.object({
  state: certificateOrder.shape.state,
  /** When the next step is due: an attempt, the renewal, or a question for its time. */
  due: z.number(),
  /** When an issued certificate is renewed. */
  renewal: z.optional(z.number()),
  /** Number of failed attempts in a row, and the reason of the last. */
  failures: z.number(),
  reason: z.optional(z.string()),
  /** The order at the directory, and the key of its certificate, encrypted. */
  url: z.optional(z.string()),
  key: z.optional(z.string()),
})

export type Order = z.infer<typeof order>

/** Returns an order as it is stored: equal orders have equal texts. */
export const orderText = (value: Order): string => JSON.stringify(order.parse(value))

/** Thrown if a request or another node has changed an order since it was read. */
export class OrderChanged extends Error {}

/**
 * Stores the next state of an order. All nodes learn about it.
 *
 * @throws OrderChanged
 */
export const storeOrder = (
  { change }: Pick<Store, 'change'>,
  name: string,
  before: Order,
  after: Order,
): Promise<void> =>
  change(async (trx) => {
    await nextRevision(trx)
    const { numUpdatedRows } = await trx
      .updateTable('certificates')
      .set({ acme: orderText(after) })
      .where('name', '=', name)
      .where('acme', '=', orderText(before))
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new OrderChanged()
  })

const accountSchema = z.object({
  directory: z.string(),
  contact: z.nullable(z.string()),
  /** PEM. */
  key: z.string(),
  /** Null until the directory has confirmed it. */
  url: z.nullable(z.string()),
})

/** The account at the directory. */
export const account: SealedSetting<z.infer<typeof accountSchema>> = {
  name: 'acme-account',
  schema: accountSchema,
}

/** Stores answers to challenges, for all nodes. */
export async function storeChallenges(
  { transaction }: Pick<Store, 'transaction'>,
  challenges: readonly AcmeChallengesTable[],
  now: number,
): Promise<void> {
  await transaction(async (trx) => {
    await trx.deleteFrom('acme_challenges').where('expires_at', '<', now).execute()
    for (const each of challenges) {
      const { token: _, ...rest } = each
      await trx
        .insertInto('acme_challenges')
        .values(each)
        .onConflict((conflict) => conflict.column('token').doUpdateSet(rest))
        .execute()
    }
  })
}

export const removeChallenges = async ({ db }: Pick<Store, 'db'>, name: string): Promise<void> => {
  await db.deleteFrom('acme_challenges').where('certificate', '=', name).execute()
}

/** Returns the answer to a challenge over HTTP, by its token, or over TLS, by the name. */
export async function findAnswer(
  { db }: Pick<Store, 'db'>,
  by: { readonly token: string } | { readonly name: string },
  now: number,
): Promise<string | undefined> {
  const [column, value, kind] =
    'token' in by
      ? (['token', by.token, 'http-01'] as const)
      : (['name', by.name, 'tls-alpn-01'] as const)
  const row = await db
    .selectFrom('acme_challenges')
    .select('answer')
    .where(column, '=', value)
    .where('kind', '=', kind)
    .where('expires_at', '>=', now)
    .orderBy(sql`expires_at desc`)
    .limit(1)
    .executeTakeFirst()
  return row?.answer
}
