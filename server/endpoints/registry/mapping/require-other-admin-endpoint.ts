import { databaseNames, SYSTEM_DATABASE } from '../../contract/database.ts'
import { createMapping, reaches } from '../../endpoints/registry/mapping/mapping.ts'
import type { EndpointChange } from '../../endpoints/writes/write-batch.ts'
import { Failure } from '../../failure.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'

/**
 * Returns a guard that rejects the change of an endpoint if no other stored endpoint reaches
 * `_system`. Whether a node listens on the other one is not checked, because no node may be running.
 *
 * @throws Failure `conflict`
 */
export const requireOtherAdminEndpoint =
  (address: string): NonNullable<EndpointChange['guard']> =>
  async (trx) => {
    const others = await trx
      .selectFrom('endpoints')
      .select('databases')
      .where('address', '!=', address)
      .where('proposal', 'is', null)
      .execute()
    const isReached = others.some(({ databases }) => {
      const names = parseJsonColumn(databaseNames, 'endpoints.databases', databases)
      return reaches(createMapping(names, Infinity), SYSTEM_DATABASE)
    })
    if (isReached) return
    throw new Failure(
      'conflict',
      `${address} is the last endpoint that serves _system. Add another one first.`,
    )
  }
