import { BULK_AT_ONCE } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import { settled } from '../storage/settled.ts'
import { OutcomeUnknown } from '../storage/unavailable.ts'
import type { DocumentRules, Job, Where } from './job.ts'
import type { Jobs } from './jobs.ts'
import { type JobRepository, LEASE, Lost } from './repository.ts'

/** Bodies of so many documents, and so many bytes of them, are read together. */
const READ = { documents: 100, bytes: 256 * 1024 } as const

/** What {@link createArrays} needs. */
export interface CreateArraysDeps {
  readonly repository: JobRepository
  readonly rules: Pick<DocumentRules, 'createTag'>
  /** Throws where too many jobs are under way. */
  readonly allow: (where: Where) => Promise<void>
  /** Creates what is staged, all of it; with `keep`, what is staged stays until it is discarded. */
  readonly commit: (job: Job, keep: boolean) => Promise<Job>
  readonly pause: () => Promise<unknown>
  readonly wake: () => void
}

/** A document of an array, with the length of its body, bytes. */
interface Sent {
  readonly id: string
  readonly tag: string
  readonly bytes: number
}

/** Makes {@link Jobs.create}. What arrives is stored at once, so that no array takes much memory. */
export function createArrays(deps: CreateArraysDeps): Jobs['create'] {
  const { repository, rules, allow, commit, pause, wake } = deps

  async function discard(job: Job): Promise<void> {
    await repository.discard([job.id])
    wake()
  }

  return async (where, parts, asked) => {
    let later = asked
    let job: Job | undefined
    let renewal: NodeJS.Timeout | undefined
    const sent: Sent[] = []
    const begin = async () => {
      if (later) await allow(where)
      const begun = await repository.create(where, 'create', 'preparing', { filter: [] })
      // Parts may arrive slowly.
      renewal = setInterval(() => void repository.renew(begun).catch(() => {}), LEASE / 3).unref()
      return begun
    }
    try {
      for await (const part of parts) {
        job ??= await begin()
        const taken = part.map((each) => ({ ...each, seen: '', tag: rules.createTag() }))
        job = await repository.stage(job, taken)
        if (!later && job.done > BULK_AT_ONCE) {
          later = true
          sent.length = 0
          await allow(where)
        }
        if (!later) {
          sent.push(
            ...taken.map(({ id, tag, body }) => ({ id, tag, bytes: Buffer.byteLength(body) })),
          )
        }
        await pause()
      }
      job ??= await begin()
      if (later) {
        await repository.begin(job)
        wake()
        return { job: job.id }
      }
      const staged = job
      await settled(commit(staged, true), async () => {
        const now = await repository.read(staged.id)
        return now?.state === 'done' ? now : undefined
      })
      const release = () => void discard(staged).catch(() => {})
      const bytes = sent.reduce((sum, each) => sum + each.bytes, 0)
      return {
        documents: sent,
        bytes,
        bodies: bodiesOf(repository, staged, sent, release),
        release,
      }
    } catch (error) {
      if (job !== undefined) await discard(job)
      if (error instanceof Lost) {
        throw new Failure('unavailable', 'The change was given up. Nothing of it was kept.')
      }
      if (!(error instanceof OutcomeUnknown)) throw error
      const ids = sent.map(({ id }) => id)
      throw new OutcomeUnknown({ cause: error.cause, details: { ids } })
    } finally {
      clearInterval(renewal)
    }
  }
}

async function* bodiesOf(
  repository: JobRepository,
  job: Job,
  sent: readonly Sent[],
  release: () => void,
): AsyncGenerator<string> {
  try {
    for (let at = 0; at < sent.length; ) {
      const first = at
      let bytes = 0
      while (
        at < sent.length &&
        at - first < READ.documents &&
        (at === first || bytes < READ.bytes)
      ) {
        bytes += sent[at++]?.bytes ?? 0
      }
      const ids = sent.slice(first, at).map(({ id }) => id)
      yield* await repository.bodies(job, ids)
    }
  } finally {
    release()
  }
}
