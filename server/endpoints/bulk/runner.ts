import { createBackgroundLoop } from '../../concurrency/background-loop.ts'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import type { EndpointChangeInput } from '../../contract/endpoints/endpoint-change.ts'
import { Failure, isFileLimit, isStoreFailure } from '../../failure.ts'
import type { EndpointRegistry } from '../registry/registry.ts'
import type { ExpectedRevision } from '../registry/repository.ts'
import { ClaimLost } from '../writes/write-batch.ts'
import type { ClaimedChange, Claims, FailedChange } from './claims.ts'

/** Maximum number of concurrent changes: one batch of the store. */
const CONCURRENCY = 32

/** Number of failures and unchanged removals stored in one transaction. */
const OUTCOMES = 100

/** Interval between renewals of a claim, ms; well below its lease. */
const RENEW = 4_000

export interface BulkRunnerDeps {
  readonly claims: Claims
  readonly endpoints: Pick<EndpointRegistry, 'add' | 'remove'>
  /** Called after each change, failed or not, and when a bulk change ends. */
  readonly onProgress: () => void
  /** Awaited between two changes of a worker so that other requests are served. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

/**
 * Creates a runner that makes bulk changes one after the other until none is left for this node.
 */
export function createBulkRunner(deps: BulkRunnerDeps) {
  const { claims, onProgress, onError } = deps
  let isTidy = false

  async function run(isStopped: () => boolean): Promise<void> {
    while (!isStopped()) {
      // Delete expired rows at startup and after each bulk change.
      while (!isStopped() && !isTidy) {
        isTidy = !(await claims.deleteExpired())
        await deps.pause()
      }
      const claimed = await claims.claim()
      if (claimed === undefined) return
      isTidy = false
      const end = await makeChanges(claimed, deps, isStopped)
      // The store is unavailable or the node is stopping. The bulk change is resumed later.
      if (end === 'interrupted') return
      if (end === 'lost') {
        // It was cancelled or another node has claimed it. If this node still holds the claim, the
        // requester has lost access.
        if (await claims.renew(claimed.id)) await claims.end(claimed.id, 'stopped')
      } else await claims.end(claimed.id, 'done')
      onProgress()
    }
  }

  const loop = createBackgroundLoop(run, onError)
  return {
    /** Resumes unfinished bulk changes. */
    wake: loop.wake,
    /** Waits for the changes in progress. Another node, or the next start, makes the rest. */
    async stop(): Promise<void> {
      await loop.stop()
      await claims.release().catch(onError)
    },
  }
}

/** How this node's work on a bulk change ended. */
type End = 'done' | 'lost' | 'interrupted'

/** Makes the changes that have no outcome yet. */
async function makeChanges(
  claimed: ClaimedChange,
  { claims, endpoints, onProgress, pause, onError }: BulkRunnerDeps,
  isStopped: () => boolean,
): Promise<End> {
  const { id, actor, changes, keepOnFailure } = claimed
  let { hasFailed } = claimed
  let end: End = 'done'
  let failed: FailedChange[] = []
  let unchanged: number[] = []
  const storeOutcomes = async () => {
    const batch = [failed, unchanged] as const
    failed = []
    unchanged = []
    if (batch.every(({ length }) => length === 0)) return
    try {
      await claims.storeOutcomes(id, ...batch)
    } catch (error) {
      // The next run makes these changes again, once all workers of this one have ended.
      end = 'interrupted'
      onError(error)
    }
  }
  const make = async (at: number, change: EndpointChangeInput) => {
    const part = { change: id, at, claim: claims.claimant }
    const expected = expectedRevision(change.expect)
    try {
      if ('remove' in change) await endpoints.remove(change.endpoint, actor, expected, part)
      else await endpoints.add(change, actor, expected, part)
    } catch (error) {
      if (error instanceof ClaimLost) end = 'lost'
      else if (isInterruption(error)) end = 'interrupted'
      else if ('remove' in change && isNotFound(error)) unchanged.push(at)
      else {
        hasFailed = true
        const isKnown = error instanceof Failure
        if (!isKnown) onError(error)
        const failure = isKnown ? error : new Failure('internal', INTERNAL, { cause: error })
        failed.push({ at, endpoint: change.endpoint, failure })
      }
      if (failed.length + unchanged.length >= OUTCOMES) await storeOutcomes()
    }
    onProgress()
  }
  const timer = setInterval(() => void claims.renew(id).catch(() => {}), RENEW)
  try {
    for (const group of groupsOf(claimed)) {
      const waiting = group.values()
      const work = async () => {
        for (const at of waiting) {
          if (end !== 'done') return
          if (isStopped()) {
            end = 'interrupted'
            return
          }
          const change = changes[at]
          if (change === undefined || ('remove' in change && keepOnFailure && hasFailed)) continue
          await make(at, change)
          await pause()
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
      await storeOutcomes()
      if (end !== 'done') return end
    }
    return end
  } finally {
    clearInterval(timer)
  }
}

/**
 * Whether all other changes would fail too: the store is unavailable or the node is stopping.
 */
const isInterruption = (error: unknown): boolean =>
  isStoreFailure(error) && !isFileLimit(error.cause)

function expectedRevision(expect: EndpointChangeInput['expect']): ExpectedRevision {
  if (expect === undefined) return undefined
  return expect === null ? 'none' : [String(expect)]
}

const INTERNAL = 'An unexpected error occurred. The server log has the details.'

const isNotFound = (error: unknown) =>
  error instanceof Failure && error.code === 'endpoint-not-found'

/**
 * Returns the indexes of the changes to make, in groups that run one after the other. A change that
 * removes an endpoint, or takes `_system` from it, may depend on an earlier one that maps `_system`
 * to another endpoint. The endpoint through which the request arrived loses `_system` last.
 */
export function groupsOf({
  changes,
  completed,
  requestEndpoint,
}: Pick<ClaimedChange, 'changes' | 'completed' | 'requestEndpoint'>): number[][] {
  const groups: number[][] = []
  let last: number[] = []
  let kind: string | undefined
  const ofRequest: number[] = []
  for (const [at, change] of changes.entries()) {
    if (completed.has(at)) continue
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
