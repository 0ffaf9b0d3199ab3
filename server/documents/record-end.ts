import type { Actor } from '../contract/audit.ts'
import type { COUNTED_ACTIONS } from '../contract/audit-action.ts'
import type { Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Change } from '../storage/changes/transactions.ts'
import type { Store } from '../storage/store.ts'

/** An import, or the deletion of a collection, for the audit log. */
export interface CountedAudit {
  readonly actor: Caller
  readonly action: (typeof COUNTED_ACTIONS)[number]
  readonly target: string
}

/** How many documents were created, deleted and so on. */
export type Counts = Readonly<Record<string, unknown>>

export interface RecordEndDeps {
  readonly store: Pick<Store, 'change'>
  readonly record: Recorder
  readonly onRecorded: () => void
  /** Reports that the end of what failed could not be recorded. */
  readonly onError: (error: unknown) => void
}

/** Records the ends of imports and of deletions of collections. */
export type RecordEnd = ReturnType<typeof createRecordEnd>

export function createRecordEnd({ store, record, onRecorded, onError }: RecordEndDeps) {
  /**
   * Records an end in the transaction of a job. A collection of which nothing was changed has no
   * row.
   *
   * @param canceller the actor that cancelled the job.
   */
  async function inTransaction(
    trx: Change,
    { actor, action, target }: CountedAudit,
    { errors: _, ...counts }: Counts,
    end: 'complete' | 'incomplete',
    canceller?: Actor,
  ): Promise<void> {
    const { created = 0, replaced = 0, deleted = 0 } = counts
    if (action !== 'database.import' && created === 0 && replaced === 0 && deleted === 0) return
    await record(trx, {
      actor,
      action,
      target,
      outcome: 'done',
      before: null,
      after: {
        ...counts,
        complete: end === 'complete',
        ...(canceller !== undefined && { cancelledBy: canceller.name }),
      },
    })
  }

  async function now(audit: CountedAudit, counts: Counts, end: 'complete' | 'incomplete') {
    await store.change((trx) => inTransaction(trx, audit, counts, end))
    onRecorded()
  }

  return {
    inTransaction,
    now,
    /** Records the end of some work, and what it has done until it fails. */
    async of<T>(audit: CountedAudit, counts: () => Counts, work: () => Promise<T>): Promise<T> {
      const result = await work().catch(async (error: unknown) => {
        // The caller needs the first error, which tells how much was stored.
        await now(audit, counts(), 'incomplete').catch(onError)
        throw error
      })
      await now(audit, counts(), 'complete')
      return result
    },
  }
}
