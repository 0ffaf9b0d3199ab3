import { randomBytes } from 'node:crypto'
import { nextTurn } from '../../concurrency/turns.ts'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import type {
  EndpointChangeInput,
  EndpointChangeOutcome,
} from '../../contract/endpoints/endpoint-change.ts'
import type { LiveEvent } from '../../contract/event.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure, isFileLimit, isStoreFailure, toErrorObject } from '../../failure.ts'
import type { Policies } from '../../policy/policies.ts'
import { offersAdministration } from '../../policy/stored-policies.ts'
import { beginChange, type Caller } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import { reverseOf } from './reverse-of.ts'

/** Maximum number of concurrent changes: one batch of the store. */
const CONCURRENCY = 32

export interface BulkRequest {
  readonly actor: Caller
  /** The endpoint through which the request arrived. */
  readonly requestEndpoint: string
  /** Validated changes of different endpoints; or the id of the bulk change to undo. */
  readonly changes: readonly EndpointChangeInput[] | string
  /** Whether no endpoint is removed after a change has failed. */
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

/**
 * Begins a bulk change. A node makes one at a time.
 *
 * @throws Failure `too-many-requests`; `not-found` as {@link reverseOf}; as {@link beginChange}.
 */
export type BeginBulkChange = (request: BulkRequest) => Promise<BulkChange>

export interface BulkChangesDeps {
  readonly store: Store
  readonly record: Recorder
  readonly endpoints: Pick<EndpointRegistry, 'add' | 'remove'>
  readonly policies: Pick<Policies, 'restore'>
  readonly publish: (event: LiveEvent) => void
  readonly onError: (error: unknown) => void
}

export function createBulkChanges(deps: BulkChangesDeps): BeginBulkChange {
  const { store, record, endpoints, policies, publish, onError } = deps
  let isRunning = false

  /** Returns whether the endpoint or its policy was different before. */
  async function makeChange(change: EndpointChangeInput, actor: Caller): Promise<boolean> {
    const { endpoint } = change
    if ('remove' in change) {
      await endpoints.remove(endpoint, actor, revisionOf(change.expect))
      return true
    }
    if (!('databases' in change)) {
      const expected = revisionOf(change.expectPolicy)
      return (await policies.restore(endpoint, change.policy, actor, expected)).isChanged
    }
    const expected = revisionOf(change.expect)
    if (change.policy === undefined) return endpoints.add(change, actor, expected)
    // A new endpoint must not open without its policy.
    const restored = await policies.restore(endpoint, change.policy, actor)
    try {
      return (await endpoints.add(change, actor, expected)) || restored.isChanged
    } catch (error) {
      await restored.undo()
      throw error
    }
  }

  async function* makeChanges(
    { requestEndpoint, keepOnFailure }: BulkRequest,
    changes: readonly EndpointChangeInput[],
    actor: Caller,
  ): BulkChange['outcomes'] {
    let hasFailed = false
    let isInterrupted = false
    const make = async (
      at: number,
      change: EndpointChangeInput,
    ): Promise<EndpointChangeOutcome> => {
      const outcome = { at, endpoint: change.endpoint }
      try {
        const isChanged = await makeChange(change, actor)
        return { ...outcome, state: isChanged ? 'made' : 'unchanged' }
      } catch (error) {
        const isKnown = error instanceof Failure
        if (isKnown && error.code === 'endpoint-not-found' && 'remove' in change) {
          return { ...outcome, state: 'unchanged' }
        }
        hasFailed = true
        // All other changes would fail too.
        if (isStoreFailure(error) && !isFileLimit(error.cause)) isInterrupted = true
        if (!isKnown) onError(error)
        const failure = isKnown ? error : new Failure('internal', INTERNAL, { cause: error })
        return { ...outcome, state: 'failed', ...toErrorObject(failure) }
      }
    }
    try {
      yield []
      for (const group of groupsOf(changes, requestEndpoint)) {
        for (let from = 0; from < group.length && !isInterrupted; from += CONCURRENCY) {
          const batch = group.slice(from, from + CONCURRENCY).flatMap((at) => {
            const change = changes[at]
            invariant(change !== undefined, 'a group has indexes of the changes')
            return 'remove' in change && keepOnFailure && hasFailed ? [] : make(at, change)
          })
          yield await Promise.all(batch)
          await nextTurn()
        }
      }
    } finally {
      isRunning = false
      publish({ type: 'audit' })
    }
  }

  return async (request) => {
    if (isRunning) {
      throw new Failure(
        'too-many-requests',
        'This node is making another bulk change. Try again after it has ended.',
      )
    }
    isRunning = true
    try {
      const { actor, changes: requested } = request
      const isUndo = typeof requested === 'string'
      const changes = isUndo ? await reverseOf(store, requested) : requested
      const id = randomBytes(16).toString('base64url')
      const removals = changes.filter((change) => 'remove' in change).length
      await store.change(async (trx) => {
        await beginChange(trx, actor)
        await record(trx, {
          actor,
          action: isUndo ? 'endpoint.change-undo' : 'endpoint.change',
          target: isUndo ? requested : id,
          outcome: 'done',
          before: null,
          after: { changes: changes.length, removals },
          change: id,
        })
      })
      return { id, outcomes: makeChanges(request, changes, { ...actor, change: id }) }
    } catch (error) {
      isRunning = false
      throw error
    }
  }
}

/** Returns the expected revision of a change: null for none, undefined for any. */
const revisionOf = (expect: number | null | undefined) =>
  expect == null ? (expect === null ? 'none' : undefined) : [String(expect)]

const INTERNAL = 'An unexpected error occurred. The server log has the details.'

/**
 * Returns the indexes of the changes in groups that run one after the other. A change that removes
 * an endpoint, or takes `_system` from it, may depend on an earlier one that maps `_system` to
 * another endpoint. The endpoint through which the request arrived loses `_system` last.
 */
export function groupsOf(
  changes: readonly EndpointChangeInput[],
  requestEndpoint: string,
): number[][] {
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

/** Whether the server might not be administered through the endpoint after a change. */
function removesAdminAccess(change: EndpointChangeInput): boolean {
  if ('remove' in change) return true
  const { policy } = change
  const isOpen =
    policy == null ||
    (offersAdministration({ policy, trial: null }) && !policy.allow && !policy.deny)
  return !isOpen || ('databases' in change && !includesDatabase(change.databases, SYSTEM_DATABASE))
}
