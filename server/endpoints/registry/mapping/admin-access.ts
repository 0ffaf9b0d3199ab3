import { includesDatabase, SYSTEM_DATABASE } from '../../../contract/database.ts'
import { onlyAdminEndpoint } from '../../../contract/endpoints/only-admin-endpoint.ts'
import type { Listener } from '../../listeners/listener.ts'
import type { Peers } from '../placement/peers.ts'
import { type Guard, requireStoredAdminEndpoint } from './require-other-admin-endpoint.ts'

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
