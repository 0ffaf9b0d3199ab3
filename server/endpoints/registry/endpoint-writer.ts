import type { AuditEntry } from '../../contract/audit.ts'
import { databaseNames, includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure } from '../../failure.ts'
import {
  offersAdministration,
  POLICY_COLUMNS,
  parseStoredPolicy,
  type StoredPolicy,
} from '../../policy/stored-policies.ts'
import {
  type Caller,
  credentialsOf,
  raiseRevision,
  requireAuthorized,
} from '../../storage/changes/begin-change.ts'
import type { OnRecord, Recorder } from '../../storage/changes/recorder.ts'
import { type ExpectedRevision, requireRevision } from '../../storage/changes/require-revision.ts'
import { type Change, executeAll, executeLater } from '../../storage/changes/transactions.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'
import type { Guard } from './admin-access.ts'

/** Maximum number of writes in one transaction: a few milliseconds of work. */
const BATCH = 32

/** Stores a change of an endpoint (see {@link writeBatch}). */
export type EndpointWriter = (write: EndpointWrite) => Promise<Written>

/**
 * Creates an {@link EndpointWriter}. Writes that arrive during a transaction are stored together in
 * the next one.
 */
export function createEndpointWriter(store: Store, record: Recorder): EndpointWriter {
  const waiting: {
    readonly write: EndpointWrite
    readonly resolve: (written: Written) => void
    readonly reject: (reason: unknown) => void
  }[] = []
  let running = false

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        const results = await writeBatch(
          store,
          record,
          batch.map(({ write }) => write),
        )
        for (const [at, result] of results.entries()) {
          if (result.status === 'fulfilled') batch[at]?.resolve(result.value)
          else batch[at]?.reject(result.reason)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (write) =>
    new Promise((resolve, reject) => {
      waiting.push({ write, resolve, reject })
      if (running) return
      running = true
      void run()
    })
}

/**
 * Stores an endpoint, or updates the databases of a stored one.
 *
 * @returns its revision, once the change is durable.
 * @throws Failure `precondition-failed`; the guard's Failure.
 */
export async function writeEndpoint(
  store: Store,
  { endpoint, databases }: EndpointRecord,
  { record, ...change }: EndpointChange & OnRecord,
): Promise<number> {
  const { revision } = await writeOne(store, record, { ...change, endpoint, databases })
  invariant(revision !== undefined, 'a stored endpoint has a revision')
  return revision
}

/**
 * Removes an endpoint durably. Returns false if it does not exist.
 *
 * @throws Failure `precondition-failed`; the guard's Failure.
 */
export async function deleteEndpoint(
  store: Store,
  endpoint: string,
  { record, ...change }: EndpointChange & OnRecord,
): Promise<boolean> {
  const { isChanged } = await writeOne(store, record, { ...change, endpoint, databases: null })
  return isChanged
}

async function writeOne(store: Store, record: Recorder, write: EndpointWrite) {
  const [result] = await writeBatch(store, record, [write])
  if (result?.status === 'fulfilled') return result.value
  throw result?.reason
}

export interface EndpointChange {
  readonly actor: Caller
  /** Compared with the stored revision, under the lock of the transaction. */
  readonly expected?: ExpectedRevision
  /**
   * Called in the transaction, under its lock, before an endpoint loses `_system`. Throws a Failure
   * to reject the change.
   */
  readonly guard?: Guard | undefined
}

/** Sets the databases of an endpoint; null removes it. */
export interface EndpointWrite extends EndpointChange {
  readonly endpoint: string
  readonly databases: readonly string[] | null
}

export interface Written {
  /** The endpoint's revision; `undefined` if the endpoint to remove does not exist. */
  readonly revision: number | undefined
  /** Whether the stored endpoint was different before. */
  readonly isChanged: boolean
  /** The stored policy of the address, which a removal removes. */
  readonly policy: StoredPolicy | undefined
}

type WriteResult = PromiseSettledResult<Written>

/**
 * Stores independent changes of endpoints in one transaction and adds them to the audit log. A
 * write that equals the stored endpoint changes and logs nothing.
 *
 * @returns for each write, its result or the reason for its rejection: Failure
 * `precondition-failed`, that of {@link requireAuthorized} or of its guard.
 * @throws Failure if nothing was stored.
 */
function writeBatch(
  store: Store,
  record: Recorder,
  writes: readonly EndpointWrite[],
): Promise<WriteResult[]> {
  return store.change(async (trx) => {
    const batch = await Batch.begin(trx, writes)
    const results: WriteResult[] = []
    for (const write of writes) results.push(await batch.write(write))
    await batch.flush()
    await record(trx, ...batch.entries)
    return results
  })
}

interface StoredMapping {
  /** JSON. */
  readonly databases: string
  readonly revision: number
}

type StoredCredentials = Parameters<typeof requireAuthorized>[1]

/** Checks writes in order and stores the accepted ones in few statements. */
class Batch {
  readonly entries: AuditEntry[] = []
  readonly #trx: Change
  readonly #revision: number
  readonly #stored: Map<string, StoredMapping>
  readonly #policies: Map<string, StoredPolicy | undefined>
  readonly #credentials: StoredCredentials
  /** Databases to store by address, as JSON arrays; null removes the endpoint. */
  readonly #pending = new Map<string, string | null>()

  private constructor(
    trx: Change,
    revision: number,
    stored: Map<string, StoredMapping>,
    policies: Map<string, StoredPolicy | undefined>,
    credentials: StoredCredentials,
  ) {
    this.#trx = trx
    this.#revision = revision
    this.#stored = stored
    this.#policies = policies
    this.#credentials = credentials
  }

  static async begin(trx: Change, writes: readonly EndpointWrite[]): Promise<Batch> {
    const addresses = [...new Set(writes.map(({ endpoint }) => endpoint))]
    const reading = trx
      .selectFrom('endpoints')
      .select(['address', 'databases', 'revision'])
      .where('address', 'in', addresses)
      .where('proposal', 'is', null)
    const readingPolicies = trx
      .selectFrom('policies')
      .select(['address', ...POLICY_COLUMNS])
      .where('address', 'in', addresses)
    // Takes the lock: no other transaction changes endpoints between the read and the writes.
    const raising = raiseRevision(trx)
    const [[counter], rows, policies, credentials] = await executeAll(
      trx,
      raising.compile(),
      reading.compile(),
      readingPolicies.compile(),
      credentialsOf(
        trx,
        writes.map(({ actor }) => actor),
      ).compile(),
    )
    invariant(counter, 'the store has a revision counter')
    const stored = new Map(
      rows.map((row) => [row.address, { databases: row.databases, revision: row.revision }]),
    )
    const policyOf = new Map(policies.map((row) => [row.address, parseStoredPolicy(row)]))
    return new Batch(trx, counter.value, stored, policyOf, credentials)
  }

  async write(write: EndpointWrite): Promise<WriteResult> {
    try {
      return { status: 'fulfilled', value: await this.#evaluate(write) }
    } catch (reason) {
      // Other errors may have aborted the transaction.
      if (reason instanceof Failure && reason.kind.status < 500) {
        return { status: 'rejected', reason }
      }
      throw reason
    }
  }

  async #evaluate(write: EndpointWrite): Promise<Written> {
    const { endpoint, databases, expected, guard, actor } = write
    requireAuthorized(actor, this.#credentials)
    const before = this.#stored.get(endpoint)
    const policy = this.#policies.get(endpoint)
    if (databases === null && before === undefined) {
      return { revision: undefined, isChanged: false, policy }
    }
    requireRevision('endpoint', endpoint, before?.revision, expected)
    const after = databases === null ? null : JSON.stringify(databases)
    if (before !== undefined && before.databases === after) {
      return { revision: before.revision, isChanged: false, policy }
    }
    const servesSystem = reachesSystem(before?.databases) && offersAdministration(policy)
    if (guard !== undefined && servesSystem && !reachesSystem(after)) {
      // The guard must see the preceding writes.
      await this.flush()
      await guard(this.#trx)
    }
    this.#pending.set(endpoint, after)
    if (after === null) {
      this.#stored.delete(endpoint)
      this.#policies.delete(endpoint)
    } else this.#stored.set(endpoint, { databases: after, revision: this.#revision })
    this.entries.push({
      actor,
      action: actionOf(before === undefined, after === null),
      target: endpoint,
      outcome: 'done',
      before:
        before === undefined
          ? null
          : {
              databases: parseJsonColumn(databaseNames, 'endpoints.databases', before.databases),
              ...(after === null && policy?.policy && { policy: policy.policy }),
            },
      after: databases === null ? null : { databases },
      change: actor.change,
    })
    return { revision: this.#revision, isChanged: true, policy }
  }

  /** Stores the pending writes with the next statement. */
  async flush(): Promise<void> {
    const entries = [...this.#pending]
    this.#pending.clear()
    const removed = entries.flatMap(([address, databases]) => (databases === null ? address : []))
    const set = entries.flatMap(([address, databases]) =>
      databases === null ? [] : { address, databases, revision: this.#revision },
    )
    if (removed.length > 0) {
      const removing = this.#trx.deleteFrom('endpoints').where('address', 'in', removed)
      await executeLater(this.#trx, removing.compile())
      const removingPolicies = this.#trx.deleteFrom('policies').where('address', 'in', removed)
      await executeLater(this.#trx, removingPolicies.compile())
    }
    if (set.length === 0) return
    const setting = this.#trx
      .insertInto('endpoints')
      .values(set)
      .onConflict((conflict) =>
        conflict.column('address').doUpdateSet((eb) => ({
          databases: eb.ref('excluded.databases'),
          revision: eb.ref('excluded.revision'),
          proposal: null,
          proposed_at: null,
        })),
      )
    await executeLater(this.#trx, setting.compile())
  }
}

/** Whether a stored list of databases includes `_system`. */
function reachesSystem(databases: string | null | undefined): boolean {
  if (databases == null) return false
  const names = parseJsonColumn(databaseNames, 'endpoints.databases', databases)
  return includesDatabase(names, SYSTEM_DATABASE)
}

const actionOf = (added: boolean, removed: boolean) =>
  removed ? 'endpoint.remove' : added ? 'endpoint.add' : 'endpoint.map'
