import { sql, type Transaction } from 'kysely'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import { onlyAdminEndpoint } from '../../contract/endpoints/endpoint.ts'
import { Failure } from '../../failure.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Listener } from '../listeners/listener.ts'
import type { Peers } from './placement/peers.ts'

/**
 * The listeners that currently serve `_system`. The last one can be neither removed nor remapped,
 * because the server could then not be administered.
 */
export interface AdminAccess {
  /** Updates the set after the state or mapping of a listener has changed. */
  update(listener: Listener): void
  /** Removes a closed listener from the set. */
  forget(listener: Listener): void
  /**
   * Makes a change after which a listener no longer serves `_system`. During the change, the
   * listener does not count as serving it, so concurrent changes cannot leave the set empty. The
   * change must run `guard` in its transaction, because other processes change endpoints too.
   *
   * @throws Failure `conflict` if it is the last one; the error of the change.
   */
  withdraw<T>(listener: Listener, change: (guard: Guard) => Promise<T>): Promise<T>
}

/** Creates an empty {@link AdminAccess}. */
export function createAdminAccess(peers: Peers | undefined): AdminAccess {
  const serving = new Set<Listener>()
  const withdrawn = new Set<Listener>()
  const access: AdminAccess = {
    update(listener) {
      const serves =
        listener.state === 'listening' && includesDatabase(listener.mapping.names, SYSTEM_DATABASE)
      if (serves && !withdrawn.has(listener)) serving.add(listener)
      else serving.delete(listener)
    },
    forget(listener) {
      serving.delete(listener)
    },
    async withdraw(listener, change) {
      if (peers !== undefined) {
        const names = () => [...serving].map(({ name }) => name)
        return change((trx) => peers.requireOtherAdminAccess(trx, listener.name, names()))
      }
      if (serving.size === 1 && serving.has(listener)) {
        throw onlyAdminEndpoint()
      }
      // The state or mapping of the listener may change during the change.
      withdrawn.add(listener)
      serving.delete(listener)
      try {
        return await change(requireStoredAdminEndpoint(serving))
      } finally {
        withdrawn.delete(listener)
        access.update(listener)
      }
    },
  }
  return access
}

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
const requireStoredAdminEndpoint =
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
