import type { EndpointRecord } from '../contract/endpoint.ts'
import { nextRevision } from '../storage/next-revision.ts'
import type { Store } from '../storage/open.ts'

/** An endpoint as it is stored: with the revision of its last change. */
export interface StoredEndpoint extends EndpointRecord {
  readonly revision: number
}

/** Every stored endpoint, sorted by address in code point order. */
export async function readEndpoints(store: Store): Promise<StoredEndpoint[]> {
  const rows = await store.db.selectFrom('endpoints').selectAll().orderBy('address').execute()
  return rows.map(fromRow)
}

/** One endpoint by its canonical address. */
export async function readEndpoint(
  store: Store,
  address: string,
): Promise<StoredEndpoint | undefined> {
  const row = await store.db
    .selectFrom('endpoints')
    .selectAll()
    .where('address', '=', address)
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Stores an endpoint, or another list of databases for one that is stored.
 *
 * @returns its new revision, once the change is durable.
 */
export function writeEndpoint(store: Store, record: EndpointRecord): Promise<number> {
  return store.db.transaction().execute(async (trx) => {
    const revision = await nextRevision(trx)
    const databases = JSON.stringify(record.databases)
    await trx
      .insertInto('endpoints')
      .values({ address: record.endpoint, databases, revision })
      .onConflict((conflict) => conflict.column('address').doUpdateSet({ databases, revision }))
      .execute()
    return revision
  })
}

/** Removes an endpoint; true, once that is durable, if there was one. */
export function deleteEndpoint(store: Store, address: string): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    const result = await trx
      .deleteFrom('endpoints')
      .where('address', '=', address)
      .executeTakeFirst()
    const found = result.numDeletedRows > 0n
    if (found) await nextRevision(trx)
    return found
  })
}

function fromRow(row: { address: string; databases: string; revision: number }): StoredEndpoint {
  return {
    endpoint: row.address,
    databases: JSON.parse(row.databases) as string[],
    revision: row.revision,
  }
}
