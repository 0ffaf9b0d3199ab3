import { sql, type Transaction } from 'kysely'
import { onlyAdminEndpoint } from '../contract/endpoints/only-admin-endpoint.ts'
import type { Tables } from '../storage/tables.ts'
import { aliveSince } from './liveness.ts'

/**
 * Checks that an endpoint other than this one serves `_system` on a live node. Called in the
 * transaction of the change, under the lock of the revision, so concurrent changes cannot remove
 * the last one.
 *
 * @param node the name of this node; `own` replaces what it has reported.
 * @param own the addresses through which this node currently serves `_system`.
 * @throws Failure `conflict` if there is no other.
 */
export async function requireOtherAdminAccess(
  trx: Transaction<Tables>,
  address: string,
  node: string,
  own: readonly string[],
): Promise<void> {
  const serving = await sql<{ address: string }>`
    select address from endpoints
    where proposal is null
    and (databases = '[]' or position('"_system"' in databases) > 0)
    and (
      address = any(${[...own]}::text[])
      or exists (
        select 1 from node_listeners join nodes on nodes.name = node_listeners.node
        where node_listeners.address = endpoints.address
        and node_listeners.state = 'listening'
        and nodes.name <> ${node} and nodes.seen_at > ${aliveSince}
      )
    )
    order by address = ${address}
    limit 1`.execute(trx)
  if (serving.rows[0]?.address !== address) return
  throw onlyAdminEndpoint()
}
