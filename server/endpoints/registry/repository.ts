import { databaseNames } from '../../contract/database.ts'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { invariant } from '../../contract/invariant.ts'
import {
  POLICY_COLUMNS,
  parseStoredPolicy,
  type StoredPolicy,
} from '../../policy/stored-policies.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'

/** A stored endpoint with the revision of its last change, and its policy. */
export interface StoredEndpoint extends EndpointRecord {
  readonly revision: number
  readonly policy: StoredPolicy | undefined
}

/**
 * The precondition of a change: one of these revisions as entity tags, or `*` for any existing
 * endpoint (`If-Match`); or `none`, that the endpoint does not exist (`If-None-Match: *`).
 */
/** Returns all stored endpoints without proposals, sorted by address in code point order. */
export async function readEndpoints(store: Store): Promise<StoredEndpoint[]> {
  const rows = await endpointsWithPolicies(store).orderBy('endpoints.address').execute()
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
    .leftJoin(
      (eb) =>
        eb
          .selectFrom('endpoints')
          .leftJoin('policies', 'policies.address', 'endpoints.address')
          .select(['endpoints.address', 'databases', 'revision', ...POLICY_COLUMNS])
          .where('proposal', 'is', null)
          .where((or) => or.or([or('revision', '>', since), or('policy_revision', '>', since)]))
          .as('changed'),
      (join) => join.onTrue(),
    )
    .select(({ selectFrom, fn }) => [
      'counters.value',
      'address',
      'databases',
      'revision',
      ...POLICY_COLUMNS,
      selectFrom('endpoints as listed')
        .select(fn.countAll().as('total'))
        .where('listed.proposal', 'is', null)
        .as('total'),
    ])
    .where('counters.name', '=', 'revision')
    .execute()
  const changed = rows.flatMap(({ address, databases, revision, ...row }) =>
    address === null || databases === null || revision === null
      ? []
      : [fromRow({ address, databases, revision, ...row })],
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
  const row = await endpointsWithPolicies(store)
    .where('endpoints.address', '=', address)
    .executeTakeFirst()
  return row && fromRow(row)
}

const endpointsWithPolicies = ({ db }: Store) =>
  db
    .selectFrom('endpoints')
    .leftJoin('policies', 'policies.address', 'endpoints.address')
    .select(['endpoints.address', 'databases', 'revision', ...POLICY_COLUMNS])
    .where('proposal', 'is', null)

type Row = { address: string; databases: string; revision: number } & Parameters<
  typeof parseStoredPolicy
>[0]

function fromRow(row: Row): StoredEndpoint {
  return {
    endpoint: row.address,
    databases: parseJsonColumn(databaseNames, 'endpoints.databases', row.databases),
    revision: row.revision,
    policy: parseStoredPolicy(row),
  }
}
