import { sql, type Transaction } from 'kysely'
import { Failure } from '../../../failure.ts'
import type { Tables } from '../../../storage/tables.ts'

/** Throws a Failure in the transaction of a change to reject the change. */
export type Guard = (trx: Transaction<Tables>) => Promise<void>

/**
 * Returns a guard that rejects the change of an endpoint if no other stored endpoint reaches
 * `_system`. It does not check whether a node listens on the other one.
 *
 * @throws Failure `conflict`
 */
export const requireOtherAdminEndpoint =
  (address: string): Guard =>
  async (trx) => {
    const other = await trx
      .selectFrom('endpoints')
      .select('address')
      .where('address', '!=', address)
      .where('proposal', 'is', null)
      .where((eb) =>
        eb.or([
          eb('databases', '=', '[]'),
          sql<boolean>`databases like ${'%"~_system"%'} escape '~'`,
        ]),
      )
      .limit(1)
      .executeTakeFirst()
    if (other !== undefined) return
    throw new Failure(
      'conflict',
      `${address} is the last endpoint that serves _system. Add another one first.`,
    )
  }
