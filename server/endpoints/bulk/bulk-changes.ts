import { createTimeSlice } from '../../concurrency/time-slice.ts'
import { createTurns, type NextTurn } from '../../concurrency/turns.ts'
import { formatAddress } from '../../contract/endpoints/address.ts'
import type {
  EndpointChangeInput,
  EndpointChangePage,
  EndpointChangeView,
} from '../../contract/endpoints/endpoint-change.ts'
import type { LiveEvent } from '../../contract/event.ts'
import { Failure, failureAt } from '../../failure.ts'
import type { Caller } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import { readAddress } from '../address.ts'
import { createMapping } from '../registry/mapping/mapping.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import { createClaims } from './claims.ts'
import { type BulkRequest, createChangeRepository } from './repository.ts'
import { createBulkRunner } from './runner.ts'

/** Minimum interval between two progress events, ms. */
const PROGRESS = 250

/** Bulk changes of endpoints, made in the background after the response to their request. */
export interface BulkChanges {
  /**
   * Stores a bulk change and starts it; it is durable when this resolves.
   *
   * @throws Failure `bad-parameter` or `bad-database-name`, naming the change; `too-many-requests`.
   */
  begin(request: BulkRequest): Promise<EndpointChangeView>
  /**
   * Starts a bulk change that reverses another one.
   *
   * @throws Failure `not-found`, `conflict`, `too-many-requests`
   */
  undo(
    id: string,
    request: Omit<BulkRequest, 'changes' | 'keepOnFailure'>,
  ): Promise<EndpointChangeView>
  /**
   * Cancels a bulk change.
   *
   * @throws Failure `not-found`
   */
  cancel(id: string, actor: Caller): Promise<EndpointChangeView>
  /** Returns the recent bulk changes, newest first. */
  list(): Promise<EndpointChangeView[]>
  /**
   * Returns one bulk change with a page of its failures.
   *
   * @throws Failure `not-found`
   */
  page(id: string, after: number, limit: number): Promise<EndpointChangePage>
  /** Resumes unfinished bulk changes. Called at startup and periodically. */
  wake(): void
  /** Publishes that a bulk change has progressed. */
  changed(): void
  /** Stops after the changes in progress. */
  stop(): Promise<void>
}

export interface BulkChangesDeps {
  readonly store: Store
  readonly record: Recorder
  readonly endpoints: Pick<EndpointRegistry, 'add' | 'remove'>
  readonly publish: (event: LiveEvent) => void
  /** Returns ms since 1970, the same on all nodes. */
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Creates {@link BulkChanges}, idle until {@link BulkChanges.wake} is called. */
export function createBulkChanges(deps: BulkChangesDeps): BulkChanges {
  const { store, record, endpoints, publish } = deps
  const nextTurn = createTurns()
  const claims = createClaims(store, deps.now, nextTurn)
  const repository = createChangeRepository(store, record, deps.now, claims.lease, nextTurn)
  const changed = throttle(() => {
    publish({ type: 'endpoint-change' })
    publish({ type: 'audit' })
  })
  const runner = createBulkRunner({
    claims,
    endpoints,
    onProgress: changed,
    pause: () => new Promise(setImmediate),
    onError: deps.onError,
  })
  const started = async (id: string) => {
    changed()
    runner.wake()
    return repository.read(id)
  }
  return {
    async begin(request) {
      const changes = await canonical(request.changes, nextTurn)
      return started(await repository.create({ ...request, changes }))
    },
    undo: async (id, request) => started(await repository.undo(id, request)),
    async cancel(id, actor) {
      await repository.cancel(id, actor)
      changed()
      return repository.read(id)
    },
    list: repository.list,
    page: repository.page,
    wake: runner.wake,
    changed,
    stop: runner.stop,
  }
}

/**
 * Validates changes like single requests, in slices, and returns them with canonical addresses.
 *
 * @throws Failure `bad-parameter` or `bad-database-name`, naming the change.
 */
async function canonical(
  changes: readonly EndpointChangeInput[],
  nextTurn: NextTurn,
): Promise<EndpointChangeInput[]> {
  const slice = createTimeSlice(nextTurn)
  const seen = new Set<string>()
  const result: EndpointChangeInput[] = []
  for (const [at, change] of changes.entries()) {
    await slice()
    try {
      const endpoint = formatAddress(readAddress(change.endpoint))
      if (!('remove' in change)) createMapping(change.databases)
      if (seen.has(endpoint)) {
        throw new Failure('bad-parameter', `The endpoint ${endpoint} is listed twice.`, {
          field: '/endpoint',
        })
      }
      seen.add(endpoint)
      result.push({ ...change, endpoint })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const message = `changes[${at}]: ${error.message}`
      throw failureAt(`/changes/${at}`, error.with({ message }))
    }
  }
  return result
}

/** Wraps a callback so that it runs immediately, then at most once per {@link PROGRESS} ms. */
function throttle(call: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let again = false
  const run = () => {
    call()
    timer = setTimeout(() => {
      timer = undefined
      if (!again) return
      again = false
      run()
    }, PROGRESS).unref()
  }
  return () => {
    if (timer === undefined) run()
    else again = true
  }
}
