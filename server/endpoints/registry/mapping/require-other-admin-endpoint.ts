import { sql, type Transaction } from 'kysely'
import { Failure } from '../../../failure.ts'
import type { Tables } from '../../../storage/tables.ts'

/** Throws a Failure in the transaction of a change to reject the change. */
export type Guard = (trx: Transaction<Tables>) => Promise<void>

/** Number of endpoints that are looked up at once. Usually, the first one qualifies. */
const LOOKUPS = 8

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
    if (found === undefined) throw isLast(address)
  }

/**
 * Returns a guard that rejects the change of an endpoint if none of these is stored and reaches
 * `_system`. It looks them up by their addresses, so that its cost does not depend on their number.
 *
 * @param others the other endpoints on which this node listens, read when the guard is called.
 * @throws Failure `conflict`
 */
export const requireOneStored =
  (address: string, others: () => Iterable<string>): Guard =>
  async (trx) => {
    const rest = Iterator.from(others())
    for (;;) {
      const some = [...rest.take(LOOKUPS)]
      if (some.length === 0) throw isLast(address)
      const found = await adminEndpoints(trx).where('address', 'in', some).executeTakeFirst()
      if (found !== undefined) return
    }
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

const isLast = (address: string) =>
  new Failure(
    'conflict',
    `${address} is the last endpoint that serves _system. Add another one first.`,
  )
