import { type NextTurn, runInTurns } from '../../concurrency/turns.ts'
import { parseJsonInSteps } from '../../contract/json/parse-json-in-steps.ts'
import { limitBytes } from '../../storage/changes/limit-bytes.ts'
import type { Store } from '../../storage/store.ts'
import type { DocumentRules, Job } from '../job.ts'
import { rangeAfter } from '../range.ts'
import type { JobRepository } from '../repository/repository.ts'

/** Maximum number of documents whose entries one transaction changes, and of their bytes. */
const BATCH_LIMITS = { documents: 250, bytes: 256 * 1024 } as const

export interface ReservationDeps {
  readonly store: Pick<Store, 'db' | 'transaction'>
  readonly repository: Pick<JobRepository, 'staged'>
  readonly rules: Pick<DocumentRules, 'openIndexes' | 'reserveEntries' | 'releaseEntries'>
  readonly pause: () => Promise<unknown>
  readonly nextTurn: NextTurn
}

interface Body {
  readonly id: string
  readonly body: string
}

/**
 * Returns functions that reserve the values that the documents of a job will have in the unique
 * indexes of its collection, in small transactions. After that, no write can keep the job from
 * storing its documents.
 *
 * A stored document with one of these values is a conflict, even if the job patches that document
 * too. A merge patch sets the same values in all documents, so it cannot swap values between them.
 */
export function createReservation({ store, repository, rules, pause, nextTurn }: ReservationDeps) {
  const { db, transaction } = store
  type Change = typeof rules.reserveEntries | typeof rules.releaseEntries

  async function forStaged(
    job: Job,
    change: Change,
    afterStep: () => Promise<unknown>,
    isStopped = () => false,
  ): Promise<void> {
    let range = await rangeAfter(db, job, '', BATCH_LIMITS)
    while (range !== undefined && !isStopped()) {
      const documents = await repository.staged(job, range)
      await transaction((trx) => change(trx, job, documents))
      await afterStep()
      range = await rangeAfter(db, job, range.last, BATCH_LIMITS)
    }
  }

  async function forSome(job: Job, documents: readonly Body[], change: Change): Promise<void> {
    for (let rest = documents; rest.length > 0; ) {
      const sizes = rest
        .slice(0, BATCH_LIMITS.documents)
        .map(({ body }) => ({ bytes: Buffer.byteLength(body) }))
      const some = rest.slice(0, limitBytes(sizes, BATCH_LIMITS.bytes))
      await transaction((trx) => change(trx, job, some))
      rest = rest.slice(some.length)
    }
  }

  /** Returns whether a job may give documents other values in a unique index. */
  async function isNeeded({ kind, request, ...where }: Job): Promise<boolean> {
    if (kind === 'create') return true
    if (kind !== 'patch') return false
    const indexes = await transaction((trx) => rules.openIndexes(trx, 'sqlite', where))
    const unique = (indexes?.definitions ?? []).filter(({ isUnique }) => isUnique)
    if (unique.length === 0) return false
    const patch = await runInTurns(parseJsonInSteps(request.patch ?? '{}'), nextTurn)
    return unique.some(({ fields }) =>
      fields.some(({ path: [name = ''] }) => Object.hasOwn(patch as object, name)),
    )
  }

  return {
    isNeeded,

    /**
     * Reserves the values of all staged documents.
     *
     * @param afterStep awaited between two transactions.
     * @throws NotUnique; any error that `afterStep` throws
     */
    reserve: (job: Job, afterStep: () => Promise<unknown>): Promise<void> =>
      forStaged(job, rules.reserveEntries, afterStep),

    /** Releases the values of all staged documents that stored ones do not have. */
    async release(job: Job, isStopped?: () => boolean): Promise<void> {
      if (await isNeeded(job)) await forStaged(job, rules.releaseEntries, pause, isStopped)
    },

    /** Reserves the values of some documents. @throws NotUnique */
    reserveSome: (job: Job, documents: readonly Body[]): Promise<void> =>
      forSome(job, documents, rules.reserveEntries),

    /** Releases the values of some staged documents. */
    async releaseSome(job: Job, ids: readonly string[]): Promise<void> {
      await forSome(job, await repository.staged(job, ids), rules.releaseEntries)
    },
  }
}
