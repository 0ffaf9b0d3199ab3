import type { EndpointRecord } from '../contract/endpoint.ts'
import { nextRevision } from '../storage/next-revision.ts'
import type { Store } from '../storage/open.ts'
import type { OnRecord } from '../storage/recorder.ts'

/** An endpoint as it is stored: with the revision of its last change. */
export interface StoredEndpoint extends EndpointRecord {
  readonly revision: number
}

/** Every stored endpoint, sorted by address in code point order. */
export async function readEndpoints(store: Store): Promise<StoredEndpoint[]> {
  const rows = await store.db
    .selectFrom('endpoints')
    .selectAll()
    .where('proposal', 'is', null)
    .orderBy('address')
    .execute()
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
    .where('proposal', 'is', null)
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Stores an endpoint, or another list of databases for one that is stored, and puts that on record.
 * What is stored just so already is left as it is.
 *
 * @returns its revision, once the change is durable.
 */
export function writeEndpoint(
  store: Store,
  { endpoint, databases }: EndpointRecord,
  { record, actor }: OnRecord,
): Promise<number> {
  return store.db.transaction().execute(async (trx) => {
    // First, for its lock: nobody changes the endpoint between the look at it and the change.
    const revision = await nextRevision(trx)
    const before = await trx
      .selectFrom('endpoints')
      .selectAll()
      .where('address', '=', endpoint)
      .executeTakeFirst()
    const values = { address: endpoint, databases: JSON.stringify(databases), revision }
    if (before === undefined) {
      await trx.insertInto('endpoints').values(values).execute()
    } else if (before.databases === values.databases) {
      return before.revision
    } else {
      await trx.updateTable('endpoints').set(values).where('address', '=', endpoint).execute()
    }
    await record(trx, {
      actor,
      action: before === undefined ? 'endpoint.add' : 'endpoint.map',
      target: endpoint,
      outcome: 'done',
      before: before === undefined ? null : { databases: JSON.parse(before.databases) },
      after: { databases },
    })
    return revision
  })
}

/** Removes an endpoint and puts that on record; true, once that is durable, if there was one. */
export function deleteEndpoint(
  store: Store,
  address: string,
  { record, actor }: OnRecord,
): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    // First, as in writeEndpoint: whoever takes two locks in two orders waits for each other.
    await nextRevision(trx)
    const before = await trx
      .deleteFrom('endpoints')
      .where('address', '=', address)
      .returning('databases')
      .executeTakeFirst()
    if (before === undefined) return false
    await record(trx, {
      actor,
      action: 'endpoint.remove',
      target: address,
      outcome: 'done',
      before: { databases: JSON.parse(before.databases) },
      after: null,
    })
    return true
  })
}

function fromRow(row: { address: string; databases: string; revision: number }): StoredEndpoint {
  return {
    endpoint: row.address,
    databases: JSON.parse(row.databases) as string[],
    revision: row.revision,
  }
}
