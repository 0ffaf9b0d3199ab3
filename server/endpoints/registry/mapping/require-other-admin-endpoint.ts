import { sql, type Transaction } from 'kysely'
import { onlyAdminEndpoint } from '../../../contract/endpoints/only-admin-endpoint.ts'
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
    const found = await adminEndpoints(trx).where('address', '!=', address).executeTakeFirst()
    if (found !== undefined) return
    throw new Failure(
      'conflict',
      `${address} is the last endpoint that serves _system. Add another one first.`,
    )
  }

/**
 * Returns a guard that rejects the change of an endpoint if none of these is stored and reaches
 * `_system`. It looks them up one by one, because usually the first one qualifies.
 *
 * @param others the addresses of the other endpoints on which this node listens.
 * @throws Failure `conflict`
 */
export const requireStoredAdminEndpoint =
  (others: Iterable<{ readonly name: string }>): Guard =>
  async (trx) => {
    for (const { name } of others) {
      const found = await adminEndpoints(trx).where('address', '=', name).executeTakeFirst()
      if (found !== undefined) return
    }
    throw onlyAdminEndpoint()
  }

/** Returns the query of one stored endpoint that reaches `_system`. */
const adminEndpoints = (trx: Transaction<Tables>) =>
  trx
    .selectFrom('endpoints')
    .select('address')
    .where('proposal', 'is', null)
    .where((eb) =>
      eb.or([
        eb('databases', '=', '[]'),
        sql<boolean>`databases like ${'%"~_system"%'} escape '~'`,
      ]),
    )
    .limit(1)
