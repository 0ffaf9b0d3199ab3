import { type Conditions, matches } from '../../contract/conditions.ts'
import { databaseNames } from '../../contract/database.ts'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'

/** A stored endpoint with the revision of its last change. */
export interface StoredEndpoint extends EndpointRecord {
  readonly revision: number
}

/**
 * The precondition of a change: one of these revisions as entity tags, or `*` for any existing
 * endpoint (`If-Match`); or `none`, that the endpoint does not exist (`If-None-Match: *`).
 */
export type ExpectedRevision = Conditions['match'] | 'none'

/** Returns all stored endpoints without proposals, sorted by address in code point order. */
export async function readEndpoints(store: Store): Promise<StoredEndpoint[]> {
  const rows = await store.db
    .selectFrom('endpoints')
    .selectAll()
    .where('proposal', 'is', null)
    .orderBy('address')
    .execute()
  return rows.map(fromRow)
}

/** The stored endpoints that changed after a revision, and the current revision. */
export interface ChangedEndpoints {
  readonly changed: StoredEndpoint[]
  /** Number of all stored endpoints. */
  readonly total: number
  readonly revision: number
}

/** Returns the endpoints that changed after a revision, in one statement. */
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
  const [counter] = rows
  invariant(counter, 'the store has a revision counter')
  return { changed, total: Number(counter.total), revision: counter.value }
}

/** Returns one endpoint by its canonical address. */
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
 * Checks the revision of an endpoint against a precondition; `undefined` means that the endpoint
 * does not exist.
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
    throw new Failure('precondition-failed', `The endpoint ${endpoint} already exists.`)
  }
  if (found !== undefined && meets(found, expected)) return
  throw new Failure(
    'precondition-failed',
    found === undefined
      ? 'The endpoint no longer exists.'
      : 'The endpoint has been changed since you loaded it. Reload it and try again.',
  )
}

/** Returns whether the revision of an existing endpoint meets a precondition. */
export const meets = (revision: number, expected: ExpectedRevision): boolean =>
  expected !== 'none' && matches({ match: expected }, String(revision))

function fromRow(row: { address: string; databases: string; revision: number }): StoredEndpoint {
  return {
    endpoint: row.address,
    databases: parseJsonColumn(databaseNames, 'endpoints.databases', row.databases),
    revision: row.revision,
  }
}
