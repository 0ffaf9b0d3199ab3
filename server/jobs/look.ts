import { sql } from 'kysely'
import type { Store } from '../storage/open.ts'
import type { DocumentRules, Job, Taken } from './job.ts'
import type { Step } from './repository.ts'

/** How many documents one step looks at, and how many bytes of them: some ms of work. */
const DOCUMENTS = 250
const BYTES = 256 * 1024

/**
 * Makes the next step of a job: looks at some documents and decides what is to become of them.
 * Changes nothing; undefined where the job has looked at all of them.
 *
 * @throws Failure `invalid`, `too-large` where a document cannot become what is asked.
 */
export async function look(
  store: Store,
  rules: DocumentRules,
  job: Job,
): Promise<Step | undefined> {
  // The documents to be created were taken as they arrived.
  return job.kind === 'create' ? undefined : lookAtStored(store, rules, job)
}

async function lookAtStored({ db }: Store, rules: DocumentRules, job: Job) {
  const { filter, patch = '' } = job.request
  const here = db
    .selectFrom('documents')
    .where('database', '=', job.database)
    .where('collection', '=', job.collection)
    .where('id', '>', job.cursor ?? '')
    .orderBy('id')
  // Their lengths first: so many of the largest would be too much to hold.
  const sizes = await here
    .select(['id', sql<number>`octet_length(body)`.as('bytes')])
    .limit(DOCUMENTS)
    .execute()
  let bytes = 0
  const some = sizes.filter(({ bytes: more }, at) => {
    bytes += more + patch.length
    return at === 0 || bytes <= BYTES
  })
  const last = some.at(-1)
  if (last === undefined) return undefined
  if (job.kind === 'list' && filter.length === 0) {
    return { passed: sizes.length, cursor: sizes.at(-1)?.id ?? '', found: sizes.length, taken: [] }
  }
  const rows = await here.select(['id', 'tag', 'body']).where('id', '<=', last.id).execute()
  const merge = job.kind === 'patch' ? await rules.merger(job, patch) : undefined
  const taken: Taken[] = []
  let found = 0
  for (const { id, tag, body } of rows) {
    if (!rules.fits(body, filter)) continue
    found++
    // The results of a listing are read from the collection, up to the job's cursor.
    if (job.kind === 'list') continue
    if (merge === undefined) taken.push({ id, seen: tag, tag: '', body: '' })
    else taken.push({ id, seen: tag, tag: rules.createTag(), body: await merge(id, body) })
  }
  return { passed: rows.length, cursor: last.id, found, taken }
}
