import { createBackgroundLoop } from '../../../concurrency/background-loop.ts'
import type { Store } from '../../../storage/store.ts'
import type { IndexRepository, IndexRow } from '../index-repository.ts'
import {
  buildStep,
  Contended,
  completeBuild,
  countDocuments,
  lastId,
  type StepLimits,
  waitForWriters,
} from './build-step.ts'

/** Number of entries that one statement deletes, a few milliseconds of work. */
const DELETE_BATCH = 1_000

/** Delay before a step is repeated after a conflict with another transaction, ms. */
const RETRY_DELAY = 50

export interface BuilderDeps {
  readonly store: Store
  readonly repository: IndexRepository
  /** Returns whether this node builds the indexes. */
  readonly holdsBuildLock: () => Promise<boolean>
  /** Awaited between two steps, so that other requests can run. */
  readonly pause: () => Promise<unknown>
  /** Called when an index is no longer built: it is ready, failed or dropped. */
  readonly onEnded: () => void
  readonly onError: (error: unknown) => void
  readonly stepLimits?: StepLimits
}

/** Creates a loop that builds indexes and deletes the entries of dropped ones, until none is left. */
export function createBuilder(deps: BuilderDeps) {
  const { store, repository, holdsBuildLock, pause, onEnded, onError, stepLimits } = deps
  const retryDelay = () => new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))

  async function build(row: IndexRow, isStopped: () => boolean): Promise<void> {
    await waitForWriters(store, retryDelay, isStopped)
    const upTo = await lastId(store, row)
    const total = row.total ?? (await countDocuments(store, row, pause, isStopped))
    for (let current: IndexRow = { ...row, total }; !isStopped(); await pause()) {
      try {
        const next = await buildStep(store, current, upTo, stepLimits)
        if (next === undefined) {
          await completeBuild(store, current)
          return onEnded()
        }
        current = next
      } catch (error) {
        if (!(error instanceof Contended)) throw error
        await retryDelay()
        const [stored] = (await repository.list(row)).filter(({ id }) => id === row.id)
        if (stored?.state !== 'building') return onEnded()
        current = { ...stored, total }
      }
    }
  }

  async function clean(row: IndexRow, isStopped: () => boolean): Promise<void> {
    await waitForWriters(store, retryDelay, isStopped)
    while (!isStopped()) {
      if (!(await repository.deleteEntries(row, DELETE_BATCH))) return repository.delete(row)
      await pause()
    }
  }

  return createBackgroundLoop(async (isStopped) => {
    if (!(await holdsBuildLock())) return
    await repository.dropOrphans()
    for (;;) {
      const row = isStopped() ? undefined : await repository.next()
      if (row === undefined) return
      await (row.state === 'building' ? build(row, isStopped) : clean(row, isStopped))
      await pause()
    }
  }, onError)
}
