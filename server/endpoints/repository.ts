import type { Transaction } from 'kysely'
import type { EndpointRecord } from '../contract/endpoint.ts'
import { Failure } from '../failure.ts'
import { nextRevision } from '../storage/next-revision.ts'
import type { Store } from '../storage/open.ts'
import type { OnRecord } from '../storage/recorder.ts'
import type { Tables } from '../storage/tables.ts'

/** An endpoint as it is stored: with the revision of its last change. */
export interface StoredEndpoint extends EndpointRecord {
  readonly revision: number
}

/**
 * What a change asks for: a revision or `any` that exists (`If-Match`), or `none`: that there is no
 * such endpoint (`If-None-Match: *`).
 */
export type ExpectedRevision = number | 'any' | 'none' | undefined

/** How an endpoint is changed. */
export interface EndpointChange extends OnRecord {
  /** Judged against what is stored, under the lock of the change. */
  readonly expected?: ExpectedRevision
  /** Called in the transaction, under its lock, before anything is changed; may refuse. */
  readonly guard?: ((trx: Transaction<Tables>) => Promise<void>) | undefined
}

/** Every stored endpoint, sorted by address in code point order; what is only proposed is none. */
export async function readEndpoints(store: Store): Promise<StoredEndpoint[]> {
  const rows = await store.db
    .selectFrom('endpoints')
    .selectAll()
    .where('proposal', 'is', null)
    .orderBy('address')
    .execute()
  return rows.map(fromRow)
}

/** The stored endpoints that changed after a revision, at the present one. */
export interface ChangedEndpoints {
  readonly changed: StoredEndpoint[]
  /** How many endpoints there are in all. */
  readonly total: number
  readonly revision: number
}

/** Reads the endpoints that changed after a revision, in one statement. */
export async function readChangedEndpoints(
  { db }: Store,
  since: number,
): Promise<ChangedEndpoints> {
  const rows = await db
    .selectFrom('counters')
    .leftJoin('endpoints', (join) =>
      join.on('endpoints.proposal', 'is', null).on('endpoints.revision', '>', since),
    )
    .select(({ selectFrom, fn }) => [
      'counters.value',
      'address',
      'databases',
      'revision',
      selectFrom('endpoints as listed')
        .select(fn.countAll().as('total'))
        .where('listed.proposal', 'is', null)
        .as('total'),
    ])
    .where('counters.name', '=', 'revision')
    .execute()
  const changed = rows.flatMap(({ address, databases, revision }) =>
    address === null || databases === null || revision === null
      ? []
      : [fromRow({ address, databases, revision })],
  )
  return { changed, total: Number(rows[0]?.total), revision: rows[0]?.value ?? 0 }
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
 * @throws Failure `precondition-failed`; whatever the guard throws.
 */
export function writeEndpoint(
  store: Store,
  { endpoint, databases }: EndpointRecord,
  { record, actor, expected, guard }: EndpointChange,
): Promise<number> {
  return store.change(async (trx) => {
    // First, for its lock: nobody changes the endpoint between the look at it and the change.
    const revision = await nextRevision(trx)
    const row = await trx
      .selectFrom('endpoints')
      .selectAll()
      .where('address', '=', endpoint)
      .executeTakeFirst()
    const before = row?.proposal === null ? row : undefined
    requireRevision(endpoint, before?.revision, expected)
    const values = { address: endpoint, databases: JSON.stringify(databases), revision }
    if (before?.databases === values.databases) return before.revision
    await guard?.(trx)
    if (row === undefined) {
      await trx.insertInto('endpoints').values(values).execute()
    } else {
      await trx
        .updateTable('endpoints')
        .set({ ...values, proposal: null, proposed_at: null })
        .where('address', '=', endpoint)
        .execute()
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

/**
 * Removes an endpoint and puts that on record; true, once that is durable, if there was one.
 *
 * @throws Failure `precondition-failed`; whatever the guard throws.
 */
export function deleteEndpoint(
  store: Store,
  address: string,
  { record, actor, expected, guard }: EndpointChange,
): Promise<boolean> {
  return store.change(async (trx) => {
    // First, as in writeEndpoint: whoever takes two locks in two orders waits for each other.
    await nextRevision(trx)
    const before = await trx
      .selectFrom('endpoints')
      .selectAll()
      .where('address', '=', address)
      .where('proposal', 'is', null)
      .executeTakeFirst()
    if (before === undefined) return false
    requireRevision(address, before.revision, expected)
    await guard?.(trx)
    await trx.deleteFrom('endpoints').where('address', '=', address).execute()
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

/**
 * Judges what a change expects of the revision that there is; undefined: there is no endpoint.
 *
 * @throws Failure `precondition-failed`
 */
export function requireRevision(
  endpoint: string,
  found: number | undefined,
  expected: ExpectedRevision,
): void {
  if (expected === undefined || (expected === 'none' && found === undefined)) return
  if (expected === 'none') {
    throw new Failure('precondition-failed', `There is an endpoint ${endpoint} already.`)
  }
  if (found !== undefined && (expected === 'any' || expected === found)) return
  throw new Failure(
    'precondition-failed',
    found === undefined
      ? 'The endpoint does not exist any more.'
      : 'The endpoint has been changed in the meantime. Look at it again.',
  )
}

function fromRow(row: { address: string; databases: string; revision: number }): StoredEndpoint {
  return {
    endpoint: row.address,
    databases: JSON.parse(row.databases) as string[],
    revision: row.revision,
  }
}
