// All queries on bulk changes, in one file, because each state change depends on the others.

import { randomBytes } from 'node:crypto'
import { createTimeSlice } from '../../concurrency/time-slice.ts'
import type { NextTurn } from '../../concurrency/turns.ts'
import type { Principal } from '../../contract/access/principal.ts'
import { type Actor, actor as actorSchema } from '../../contract/audit/audit.ts'
import type { AuditAction } from '../../contract/audit/audit-action.ts'
import { databaseNames } from '../../contract/database.ts'
import {
  CHANGE_RETENTION,
  type EndpointChangeInput,
  type EndpointChangePage,
  type EndpointChangeView,
  endpointChangeFailure,
  endpointChangeView,
  MAX_LISTED_CHANGES,
  MAX_UNFINISHED_CHANGES,
} from '../../contract/endpoints/endpoint-change.ts'
import { invariant } from '../../contract/invariant.ts'
import { toIsoTime } from '../../contract/iso-time.ts'
import { Failure } from '../../failure.ts'
import { beginChange, type Caller } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Change } from '../../storage/changes/transactions.ts'
import { parseColumn, parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'
import type { EndpointChangesTable } from '../../storage/tables.ts'
import type { Claims } from './claims.ts'
import { parseChanges, printChanges } from './stored-changes.ts'

export interface BulkRequest {
  readonly actor: Actor
  readonly principal: Pick<Principal, 'personId' | 'by' | 'credential' | 'role'>
  /** The endpoint through which the request arrived. */
  readonly requestEndpoint: string
  readonly changes: readonly EndpointChangeInput[]
  readonly keepOnFailure: boolean
}

/** A request with the JSON text of its changes. */
interface PrintedRequest extends BulkRequest {
  readonly printed: string
}

/**
 * Creates a repository of bulk changes. `now` returns ms since 1970.
 *
 * @param claim returns the claim columns of this node, set on the bulk changes it creates.
 */
export function createChangeRepository(
  store: Store,
  record: Recorder,
  now: () => number,
  claim: Claims['lease'],
  nextTurn: NextTurn,
) {
  const { db } = store

  /** Prints the changes before the transaction, because it may take several turns. */
  const print = async (request: BulkRequest): Promise<PrintedRequest> => ({
    ...request,
    printed: await printChanges(request.changes, nextTurn),
  })

  async function insert(
    trx: Change,
    { actor, principal, requestEndpoint, changes, printed, keepOnFailure }: PrintedRequest,
    action: AuditAction,
    undoOf: string | null,
  ): Promise<string> {
    const { count } = await trx
      .selectFrom('endpoint_changes')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow()
    if (Number(count) >= MAX_UNFINISHED_CHANGES) {
      throw new Failure(
        'too-many-requests',
        `${MAX_UNFINISHED_CHANGES} bulk changes are already waiting or running. Try again after one has ended.`,
      )
    }
    const id = randomBytes(16).toString('base64url')
    const removals = changes.filter((change) => 'remove' in change).length
    await trx
      .insertInto('endpoint_changes')
      .values({
        id,
        state: 'running',
        actor: JSON.stringify(actor),
        person: principal.personId,
        token: principal.by === 'token' ? principal.credential : null,
        via: requestEndpoint,
        keep_on_failure: keepOnFailure ? 1 : 0,
        changes: printed,
        total: changes.length,
        removals,
        made: 0,
        unchanged: 0,
        failed: 0,
        undo_of: undoOf,
        undone_by: null,
        ...claim(),
        created_at: now(),
        ended_at: null,
      })
      .execute()
    const after = { changes: changes.length, removals }
    const entry = { actor, action, target: undoOf ?? id, outcome: 'done', before: null } as const
    await record(trx, { ...entry, after, change: id })
    return id
  }

  const recent = () =>
    db
      .selectFrom('endpoint_changes')
      .select(LISTED)
      .where((eb) =>
        eb.or([eb('state', '=', 'running'), eb('created_at', '>', now() - CHANGE_RETENTION)]),
      )

  /** @throws Failure `not-found`; `conflict` if the bulk change is running or was undone */
  async function requireUndoable(queries: Store['db'] | Change, id: string): Promise<void> {
    const row = await queries
      .selectFrom('endpoint_changes')
      .select(['state', 'undone_by'])
      .where('id', '=', id)
      .where('created_at', '>', now() - CHANGE_RETENTION)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    if (row.state === 'running') {
      throw new Failure('conflict', 'The bulk change has not ended. Cancel it first.')
    }
    if (row.undone_by !== null) {
      throw new Failure('conflict', 'The bulk change has already been undone.')
    }
  }

  /**
   * Returns the changes that reverse those that a bulk change made, in reverse order.
   *
   * @throws Failure `not-found`; `conflict` if it made none.
   */
  async function reverseOf(id: string): Promise<EndpointChangeInput[]> {
    const outcomes = await db
      .selectFrom('endpoint_change_outcomes')
      .select(['at', 'before', 'revision'])
      .where('change', '=', id)
      .where('state', '=', 'made')
      .orderBy('at', 'desc')
      .execute()
    if (outcomes.length === 0) throw new Failure('conflict', 'The bulk change made no changes.')
    const row = await db
      .selectFrom('endpoint_changes')
      .select('changes')
      .where('id', '=', id)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    const original = await parseChanges(row.changes, nextTurn)
    const slice = createTimeSlice(nextTurn)
    const changes: EndpointChangeInput[] = []
    for (const { at, before, revision } of outcomes) {
      const change = original[at]
      invariant(change !== undefined, 'an outcome belongs to a change')
      const { endpoint } = change
      if (before === null) changes.push({ endpoint, remove: true, expect: revision })
      else {
        const databases = parseJsonColumn(databaseNames, 'endpoint_change_outcomes.before', before)
        changes.push({ endpoint, databases, expect: revision })
      }
      await slice()
    }
    return changes
  }

  async function requireView(id: string): Promise<EndpointChangeView> {
    const row = await recent().where('id', '=', id).executeTakeFirst()
    if (row === undefined) throw notFound()
    return toView(row)
  }

  return {
    /**
     * Stores a bulk change, claimed by this node.
     *
     * @throws Failure `too-many-requests`
     */
    async create(request: BulkRequest): Promise<string> {
      const printed = await print(request)
      return store.change(async (trx) => {
        await beginChange(trx, callerOf(request))
        return insert(trx, printed, 'endpoint.change', null)
      })
    },

    /**
     * Stores a bulk change that reverses the changes another one made, in reverse order. It skips
     * endpoints that have changed since.
     *
     * @throws Failure `not-found`; `conflict` if the bulk change is running, was already undone or
     * changed nothing; `too-many-requests`.
     */
    async undo(
      id: string,
      request: Omit<BulkRequest, 'changes' | 'keepOnFailure'>,
    ): Promise<string> {
      // What a bulk change has made does not change any more once it has ended.
      await requireUndoable(db, id)
      const changes = await reverseOf(id)
      const printed = await print({ ...request, changes, keepOnFailure: false })
      return store.change(async (trx) => {
        await beginChange(trx, callerOf(request))
        await requireUndoable(trx, id)
        const undo = await insert(trx, printed, 'endpoint.change-undo', id)
        await trx
          .updateTable('endpoint_changes')
          .set({ undone_by: undo })
          .where('id', '=', id)
          .execute()
        return undo
      })
    },

    /**
     * Cancels a bulk change. Once this resolves, none of its remaining changes are made. No effect
     * on a bulk change that has ended or does not exist.
     */
    cancel(id: string, actor: Caller): Promise<void> {
      return store.change(async (trx) => {
        await beginChange(trx, actor)
        const row = await trx
          .updateTable('endpoint_changes')
          .set({ state: 'cancelled', ended_at: now() })
          .where('id', '=', id)
          .where('state', '=', 'running')
          .returning(['made', 'total'])
          .executeTakeFirst()
        if (row === undefined) return
        await record(trx, {
          actor,
          action: 'endpoint.change-cancel',
          target: id,
          outcome: 'done',
          before: null,
          after: { made: row.made, changes: row.total },
          change: id,
        })
      })
    },

    /** Returns the recent bulk changes, newest first. */
    async list(): Promise<EndpointChangeView[]> {
      const rows = await recent()
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(MAX_LISTED_CHANGES)
        .execute()
      return rows.map(toView)
    },

    /** @throws Failure `not-found` */
    read: requireView,

    /**
     * Returns a bulk change with a page of its failures.
     *
     * @param after the index after which the page starts.
     * @throws Failure `not-found`
     */
    async page(id: string, after: number, limit: number): Promise<EndpointChangePage> {
      const view = await requireView(id)
      const rows =
        view.failed === 0
          ? []
          : await db
              .selectFrom('endpoint_change_outcomes')
              .select(['at', 'failure'])
              .where('change', '=', id)
              .where('state', '=', 'failed')
              .where('at', '>', after)
              .orderBy('at')
              .limit(limit + 1)
              .execute()
      const page = rows.slice(0, limit)
      const failures = page.map(({ at, failure }) => {
        invariant(failure !== null, 'a failed change has a failure')
        return parseColumn(endpointChangeFailure, 'endpoint_change_outcomes.failure', {
          at,
          ...JSON.parse(failure),
        })
      })
      const next = rows.length > limit ? (page.at(-1)?.at ?? null) : null
      return { ...view, failures, next }
    },
  }
}

const callerOf = ({ actor, principal }: Pick<BulkRequest, 'actor' | 'principal'>): Caller => ({
  ...actor,
  authorization: principal,
})

const notFound = () => new Failure('not-found', 'There is no such bulk change.')

/** All columns except the changes themselves, which are large. */
const LISTED = [
  'id',
  'state',
  'actor',
  'total',
  'removals',
  'made',
  'unchanged',
  'failed',
  'undo_of',
  'undone_by',
  'created_at',
  'ended_at',
] as const

type Listed = Pick<EndpointChangesTable, (typeof LISTED)[number]>

const toView = (row: Listed): EndpointChangeView => ({
  id: row.id,
  state: parseColumn(endpointChangeView.shape.state, 'endpoint_changes.state', row.state),
  actor: parseJsonColumn(actorSchema, 'endpoint_changes.actor', row.actor).name,
  created: toIsoTime(row.created_at),
  ended: toIsoTime(row.ended_at),
  total: row.total,
  removals: row.removals,
  made: row.made,
  unchanged: row.unchanged,
  failed: row.failed,
  left: row.total - row.made - row.unchanged - row.failed,
  undoOf: row.undo_of,
  undoneBy: row.undone_by,
})
