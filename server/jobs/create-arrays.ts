import { NO_CALLER } from '../concurrency/work-queue.ts'
import { MAX_SYNC_BULK_DOCUMENTS } from '../contract/document.ts'
import { jsonPointer } from '../contract/json/json-pointer.ts'
import type { LargeArrays } from '../documents/repository/writes/create-many.ts'
import { DocumentConflict, type Failure, failureAt } from '../failure.ts'
import { OutcomeUnknown } from '../storage/availability/unavailable.ts'
import { limitBytes } from '../storage/changes/limit-bytes.ts'
import { type Commit, commitOrFind, connectedPause } from './commit.ts'
import type { DocumentRules, Job } from './job.ts'
import type { NewJob } from './repository/creation.ts'
import { LeaseLost } from './repository/lease.ts'
import type { JobRepository } from './repository/repository.ts'

/** Maximum number of documents whose bodies are read together, and of their bytes. */
const READ_LIMITS = { documents: 100, bytes: 256 * 1024 } as const

export interface CreateArraysDeps {
  readonly repository: JobRepository
  readonly rules: Pick<DocumentRules, 'createTag' | 'schema'>
  /** Creates the staged documents, all or none. */
  readonly commit: Commit
  readonly discard: (job: Job) => Promise<void>
  readonly pause: () => Promise<unknown>
  readonly wake: () => void
}

/** A document of an array, with the size of its body in bytes. */
interface Sent {
  readonly id: string
  readonly tag: string
  readonly bytes: number
}

/**
 * Returns {@link LargeArrays.create}. It stages documents as they arrive, so that an array of any
 * length takes little memory.
 */
export function createArrays(deps: CreateArraysDeps): LargeArrays['create'] {
  const { repository, rules, wake } = deps

  async function discard(job: Job): Promise<void> {
    await deps.discard(job)
    wake()
  }

  return async (where, parts, respondAsync, caller = NO_CALLER) => {
    const { id: callerId, signal } = caller
    const pause = connectedPause(deps.pause, signal)
    let inBackground = respondAsync
    // Read before `parts` validates the first part: a later schema is then detected.
    const { tag: schema } = await rules.schema(where)
    let job: Job | undefined
    let stopRenewing = () => {}
    const sent: Sent[] = []
    const begin = async () => {
      const request = { filter: [], schema }
      const newJob: NewJob = {
        where,
        kind: 'create',
        state: 'preparing',
        request,
        caller: callerId,
      }
      const begun = await (inBackground
        ? repository.createWithinLimits(newJob)
        : repository.create(newJob))
      // Parts may arrive slowly, so the lease is renewed independently of them.
      stopRenewing = repository.keepLease(begun)
      return begun
    }
    try {
      for await (const part of parts) {
        job ??= await begin()
        const staged = part.map((each) => ({ ...each, seen: '', tag: rules.createTag() }))
        job = await repository.stage(job, staged)
        if (!inBackground && job.done > MAX_SYNC_BULK_DOCUMENTS) {
          inBackground = true
          sent.length = 0
          await repository.requireWithinLimits(job)
        }
        if (!inBackground) {
          sent.push(
            ...staged.map(({ id, tag, body }) => ({ id, tag, bytes: Buffer.byteLength(body) })),
          )
        }
        await pause()
      }
      job ??= await begin()
      if (inBackground) {
        await repository.begin(job)
        wake()
        return { job: job.id }
      }
      const staged = job
      await commitOrFind(deps, staged, { keep: true, signal })
      const release = () => void discard(staged).catch(() => {})
      const bytes = sent.reduce((sum, each) => sum + each.bytes, 0)
      return {
        documents: sent,
        bytes,
        bodies: bodiesOf(deps, staged, sent, release),
        release,
      }
    } catch (error) {
      // A job that cannot be discarded expires. The caller needs the first error.
      if (job !== undefined) await discard(job).catch(() => {})
      if (error instanceof LeaseLost) throw await repository.lostFailure(where.database)
      if (error instanceof DocumentConflict) throw withIndex(error, sent)
      if (!(error instanceof OutcomeUnknown)) throw error
      const ids = sent.map(({ id }) => id)
      throw new OutcomeUnknown({ cause: error.cause, ids })
    } finally {
      stopRenewing()
    }
  }
}

/** Adds the index of the document that cannot be stored to the field of a conflict. */
function withIndex(conflict: DocumentConflict, sent: readonly Sent[]): Failure {
  const at = sent.findIndex(({ id }) => id === conflict.id)
  return failureAt(jsonPointer([at]), conflict)
}

/** Yields the bodies of staged documents. Other requests run between the statements. */
async function* bodiesOf(
  { repository, pause }: CreateArraysDeps,
  job: Job,
  sent: readonly Sent[],
  release: () => void,
): AsyncGenerator<string> {
  try {
    for (let at = 0; at < sent.length; ) {
      const next = sent.slice(at, at + READ_LIMITS.documents)
      const batch = next.slice(0, limitBytes(next, READ_LIMITS.bytes))
      const ids = batch.map(({ id }) => id)
      await pause()
      yield* await repository.bodies(job, ids)
      at += batch.length
    }
  } finally {
    release()
  }
}
