import { randomBytes } from 'node:crypto'
import { createTimeSlice } from '../../concurrency/time-slice.ts'
import { createTurns } from '../../concurrency/turns.ts'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import type {
  EndpointChangeInput,
  EndpointChangeOutcome,
} from '../../contract/endpoints/endpoint-change.ts'
import type { LiveEvent } from '../../contract/event.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure, isFileLimit, isStoreFailure, toErrorObject } from '../../failure.ts'
import { beginChange, type Caller } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import type { ExpectedRevision } from '../registry/repository.ts'
import { reverseOf } from './reverse-of.ts'

/** Maximum number of concurrent changes: one batch of the store. */
const CONCURRENCY = 32

export interface Requester {
  readonly actor: Caller
  /** The endpoint through which the request arrived. */
  readonly requestEndpoint: string
}

export interface BulkRequest extends Requester {
  /** Validated changes of different endpoints. */
  readonly changes: readonly EndpointChangeInput[]
  readonly keepOnFailure: boolean
}

/** A bulk change that has begun. */
export interface BulkChange {
  readonly id: string
  /**
   * Makes the changes while it is read, and yields their outcomes; first, an empty list. Once the
   * first list was read, it must be read to its end or closed.
   */
  readonly outcomes: AsyncGenerator<EndpointChangeOutcome[], void>
}

/** Bulk changes of endpoints. A node makes one at a time. */
export interface BulkChanges {
  /** @throws Failure `too-many-requests`; that of {@link beginChange}. */
  begin(request: BulkRequest): Promise<BulkChange>
  /**
   * Begins a bulk change that reverses another one, except for endpoints that have changed since.
   *
   * @throws Failure `not-found`; as {@link begin}.
   */
  undo(id: string, requester: Requester): Promise<BulkChange>
}

export interface BulkChangesDeps {
  readonly store: Store
  readonly record: Recorder
  readonly endpoints: Pick<EndpointRegistry, 'add' | 'remove'>
  readonly publish: (event: LiveEvent) => void
  readonly onError: (error: unknown) => void
}

export function createBulkChanges(deps: BulkChangesDeps): BulkChanges {
  const { store, record, endpoints, publish, onError } = deps
  const nextTurn = createTurns()
  let isRunning = false

  async function begin(
    action: 'endpoint.change' | 'endpoint.change-undo',
    undone: string | undefined,
    prepare: () => BulkRequest | Promise<BulkRequest>,
  ): Promise<BulkChange> {
    if (isRunning) {
      throw new Failure(
        'too-many-requests',
        'This node is making another bulk change. Try again after it has ended.',
      )
    }
    isRunning = true
    try {
      const request = await prepare()
      const { actor, changes } = request
      const id = randomBytes(16).toString('base64url')
      const removals = changes.filter((change) => 'remove' in change).length
      const after = { changes: changes.length, removals }
      await store.change(async (trx) => {
        await beginChange(trx, actor)
        const entry = {
          actor,
          action,
          target: undone ?? id,
          outcome: 'done',
          before: null,
        } as const
        await record(trx, { ...entry, after, change: id })
      })
      return { id, outcomes: makeChanges({ ...request, actor: { ...actor, change: id } }) }
    } catch (error) {
      isRunning = false
      throw error
    }
  }

  async function* makeChanges(request: BulkRequest): BulkChange['outcomes'] {
    const { actor, changes, keepOnFailure } = request
    const slice = createTimeSlice(nextTurn)
    let hasFailed = false
    let isInterrupted = false
    const make = async (at: number, change: EndpointChangeInput) => {
      const outcome = { at, endpoint: change.endpoint }
      const expected = expectedRevision(change.expect)
      try {
        let isChanged = true
        if ('remove' in change) await endpoints.remove(change.endpoint, actor, expected)
        else isChanged = await endpoints.add(change, actor, expected)
        return { ...outcome, state: isChanged ? 'made' : 'unchanged' } as const
      } catch (error) {
        if ('remove' in change && isNotFound(error)) {
          return { ...outcome, state: 'unchanged' } as const
        }
        hasFailed = true
        // All other changes would fail too.
        if (isStoreFailure(error) && !isFileLimit(error.cause)) isInterrupted = true
        const isKnown = error instanceof Failure
        if (!isKnown) onError(error)
        const failure = isKnown ? error : new Failure('internal', INTERNAL, { cause: error })
        return { ...outcome, state: 'failed', ...toErrorObject(failure) } as const
      }
    }
    const pending: Promise<EndpointChangeOutcome>[] = []
    let outcomes: EndpointChangeOutcome[] = []
    try {
      yield outcomes
      for (const group of groupsOf(request)) {
        for (const at of group) {
          const change = changes[at]
          invariant(change !== undefined, 'a group has indexes of the changes')
          if ('remove' in change && keepOnFailure && hasFailed) continue
          pending.push(make(at, change))
          if (pending.length < CONCURRENCY) continue
          outcomes.push(...(await Promise.all(pending.splice(0, 1))))
          if (isInterrupted) break
          if (outcomes.length === CONCURRENCY) {
            yield outcomes
            outcomes = []
          }
          await slice()
        }
        outcomes.push(...(await Promise.all(pending.splice(0))))
        yield outcomes
        if (isInterrupted) return
        outcomes = []
      }
    } finally {
      await Promise.all(pending)
      isRunning = false
      publish({ type: 'audit' })
    }
  }

  return {
    begin: (request) => begin('endpoint.change', undefined, () => request),
    undo: (id, requester) =>
      begin('endpoint.change-undo', id, async () => ({
        ...requester,
        changes: await reverseOf(store, id, nextTurn),
        keepOnFailure: false,
      })),
  }
}

function expectedRevision(expect: EndpointChangeInput['expect']): ExpectedRevision {
  if (expect === undefined) return undefined
  return expect === null ? 'none' : [String(expect)]
}

const INTERNAL = 'An unexpected error occurred. The server log has the details.'

const isNotFound = (error: unknown) =>
  error instanceof Failure && error.code === 'endpoint-not-found'

/**
 * Returns the indexes of the changes in groups that run one after the other. A change that removes
 * an endpoint, or takes `_system` from it, may depend on an earlier one that maps `_system` to
 * another endpoint. The endpoint through which the request arrived loses `_system` last.
 */
export function groupsOf({
  changes,
  requestEndpoint,
}: Pick<BulkRequest, 'changes' | 'requestEndpoint'>): number[][] {
  const groups: number[][] = []
  let last: number[] = []
  let kind: string | undefined
  const ofRequest: number[] = []
  for (const [at, change] of changes.entries()) {
    if (change.endpoint === requestEndpoint && removesAdminAccess(change)) {
      ofRequest.push(at)
      continue
    }
    const next = 'remove' in change ? 'remove' : removesAdminAccess(change) ? 'close' : 'open'
    if (next !== kind) {
      last = []
      groups.push(last)
      kind = next
    }
    last.push(at)
  }
  if (ofRequest.length > 0) groups.push(ofRequest)
  return groups
}

/** Whether a change leaves the endpoint without `_system`. */
const removesAdminAccess = (change: EndpointChangeInput): boolean =>
  'remove' in change || !includesDatabase(change.databases, SYSTEM_DATABASE)
