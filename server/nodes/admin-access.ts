import { sql, type Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import type { Tables } from '../storage/tables.ts'
import { aliveSince } from './alive.ts'

/**
 * Refuses to take an endpoint out of the ways to `_system` where no other is left on any node. To be
 * called in the transaction of the change, under the lock of the revision: then nobody else takes
 * another way out before this change is done.
 *
 * @param me the name of this node, of which `own` says more than what it has reported.
 * @param own the addresses through which this node leads to `_system` now.
 * @throws Failure `conflict`
 */
export async function requireOtherWay(
  trx: Transaction<Tables>,
  address: string,
  me: string,
  own: readonly string[],
): Promise<void> {
  const ways = await sql<{ address: string }>`
    select address from endpoints
    where proposal is null
    and (databases = '[]' or position('"_system"' in databases) > 0)
    and (
      address = any(${[...own]}::text[])
      or exists (
        select 1 from node_listeners join nodes on nodes.name = node_listeners.node
        where node_listeners.address = endpoints.address
        and node_listeners.state = 'listening'
        and nodes.name <> ${me} and nodes.seen_at > ${aliveSince}
      )
    )
    order by address = ${address}
    limit 1`.execute(trx)
  if (ways.rows[0]?.address !== address) return
  throw new Failure(
    'conflict',
    'Nobody could administer this server without this endpoint: no other reaches _system. ' +
      'Add one that does first.',
  )
}
