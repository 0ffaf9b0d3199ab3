import type { Store } from '../../storage/open.ts'
import type { DocumentRules, Job } from '../job.ts'
import { rangeAfter } from '../range.ts'
import type { JobRepository } from '../repository.ts'

/** Maximum number of documents whose entries one transaction changes, and of their bytes. */
const BATCH_LIMITS = { documents: 250, bytes: 256 * 1024 } as const

export interface ReservationDeps {
  readonly store: Pick<Store, 'db' | 'transaction'>
  readonly repository: Pick<JobRepository, 'staged'>
  readonly rules: Pick<DocumentRules, 'openIndexes' | 'reserveEntries' | 'releaseEntries'>
  readonly pause: () => Promise<unknown>
}

/**
 * Returns functions that reserve the values of the documents that a job creates in the unique
 * indexes of its collection, in small transactions. After that, no write can keep the job from
 * storing its documents.
 */
export function createReservation({ store, repository, rules, pause }: ReservationDeps) {
  const { db, transaction } = store

  async function forStaged(
    job: Job,
    change: typeof rules.reserveEntries | typeof rules.releaseEntries,
  ): Promise<void> {
    let range = await rangeAfter(db, job, '', BATCH_LIMITS)
    while (range !== undefined) {
      const documents = await repository.staged(job, range)
      await transaction((trx) => change(trx, job, documents))
      await pause()
      range = await rangeAfter(db, job, range.last, BATCH_LIMITS)
    }
  }

  return {
    /** @throws NotUnique */
    reserve: (job: Job): Promise<void> => forStaged(job, rules.reserveEntries),
    release: (job: Job): Promise<void> => forStaged(job, rules.releaseEntries),

    /**
     * Returns whether only a transaction that writes all documents of a job can check that unique
     * indexes accept them: the job changes values in a unique index.
     */
    async changesUniqueValues({ kind, request, ...where }: Job): Promise<boolean> {
      if (kind !== 'patch') return false
      const indexes = await transaction((trx) => rules.openIndexes(trx, 'sqlite', where))
      const changed = Object.keys(JSON.parse(request.patch ?? '{}'))
      return (indexes?.definitions ?? []).some(
        ({ isUnique, fields }) =>
          isUnique && fields.some(({ path: [name = ''] }) => changed.includes(name)),
      )
    },
  }
}
