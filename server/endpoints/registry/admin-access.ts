import { sql, type Transaction } from 'kysely'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import { onlyAdminEndpoint } from '../../contract/endpoints/endpoint.ts'
import { Failure } from '../../failure.ts'
import {
  offersAdministration,
  POLICY_COLUMNS,
  parseStoredPolicy,
} from '../../policy/stored-policies.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Listener } from '../listeners/listener.ts'
import type { Peers } from './placement/peers.ts'

/**
 * The listeners through which the server can be administered: they serve `_system`, and their
 * policies leave the administration on and have no closing time. The last one can be neither
 * removed nor remapped.
 */
export interface AdminAccess {
  /** Updates the set after the state, the mapping or the policy of a listener has changed. */
  update(listener: Listener): void
  /** Removes a closed listener from the set. */
  forget(listener: Listener): void
  /**
   * Makes a change after which a listener no longer counts. During the change it does not count, so
   * concurrent changes cannot leave the set empty. The change must run `guard` in its transaction,
   * because other processes change endpoints too.
   *
   * @param client the address of the caller, which another listener must admit; null for commands.
   * @throws Failure `conflict` if there is no other; the error of the change.
   */
  withdraw<T>(
    listener: Listener,
    client: string | null,
    change: (guard: Guard) => Promise<T>,
  ): Promise<T>
}

/** Creates an empty {@link AdminAccess}. */
export function createAdminAccess(peers: Peers | undefined): AdminAccess {
  const serving = new Set<Listener>()
  const withdrawn = new Set<Listener>()
  const access: AdminAccess = {
    update(listener) {
      const serves =
        listener.state === 'listening' &&
        includesDatabase(listener.mapping.names, SYSTEM_DATABASE) &&
        offersAdministration(listener.storedPolicy)
      if (serves && !withdrawn.has(listener)) serving.add(listener)
      else serving.delete(listener)
    },
    forget(listener) {
      serving.delete(listener)
    },
    async withdraw(listener, client, change) {
      const isOther = (other: Listener) =>
        other !== listener && (other.policy?.admits(client) ?? true)
      if (peers !== undefined) {
        const names = () => [...serving].map(({ name }) => name)
        return change((trx) => peers.requireOtherAdminAccess(trx, listener.name, client, names()))
      }
      if (serving.has(listener) && !serving.values().some(isOther)) throw onlyAdminEndpoint()
      // The state or mapping of the listener may change during the change.
      withdrawn.add(listener)
      serving.delete(listener)
      try {
        return await change(requireStoredAdminEndpoint(serving, client))
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
 * Returns a guard that rejects the change of an endpoint if no other stored endpoint offers the
 * administration. It does not check whether a node listens on the other one.
 *
 * @throws Failure `conflict`
 */
export const requireOtherAdminEndpoint =
  (address: string): Guard =>
  async (trx) => {
    const others = await adminEndpoints(trx).where('endpoints.address', '!=', address).execute()
    if (others.some((other) => offersAdministration(parseStoredPolicy(other)))) return
    throw new Failure(
      'conflict',
      `${address} is the last endpoint that serves _system. Add another one first.`,
    )
  }

/**
 * Returns a guard that rejects the change of an endpoint if none of these is stored, offers the
 * administration and admits the caller. It looks them up one by one, because usually the first one
 * qualifies.
 *
 * @param others the addresses of the other endpoints on which this node listens.
 * @throws Failure `conflict`
 */
const requireStoredAdminEndpoint =
  (others: Iterable<{ readonly name: string }>, client: string | null): Guard =>
  async (trx) => {
    for (const { name } of others) {
      const found = await adminEndpoints(trx)
        .where('endpoints.address', '=', name)
        .executeTakeFirst()
      if (found !== undefined && offersAdministration(parseStoredPolicy(found), client)) return
    }
    throw onlyAdminEndpoint()
  }

/** Returns the query of the stored endpoints that reach `_system`, with their policies. */
const adminEndpoints = (trx: Transaction<Tables>) =>
  trx
    .selectFrom('endpoints')
    .leftJoin('policies', 'policies.address', 'endpoints.address')
    .select(['endpoints.address', ...POLICY_COLUMNS])
    .where('proposal', 'is', null)
    .where((eb) =>
      eb.or([
        eb('databases', '=', '[]'),
        sql<boolean>`databases like ${'%"~_system"%'} escape '~'`,
      ]),
    )
