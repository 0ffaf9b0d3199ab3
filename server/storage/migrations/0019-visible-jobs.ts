import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/** Changes that an older version may have left unfinished. */
const UNFINISHED = sql`state in ('preparing', 'attached', 'running', 'applying', 'cancelling')`

/**
 * Ends the jobs of older versions, which changed all of their documents or none: committed ones are
 * applied, those that clients wait for start again, and accepted arrays become imports. The steps of
 * a job now store its changes (docs/decisions/0037-visible-jobs.md).
 */
export function visibleJobs(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      if (engine === 'sqlite') {
        await rebuildIndexes(db)
        await applyCommitted(db)
      }
      await sql`update jobs set state = 'cancelled' where state = 'cancelling'`.execute(db)
      await sql`
        update jobs set state = 'discarded', clean = 0
        where state in ('preparing', 'attached') or (state = 'discarded' and clean = 1)`.execute(db)
      await restartChanges(db)
      await importArrays(db, engine)
    },
  }
}

/**
 * Rebuilds the indexes of collections with unfinished changes: their entries lack what is applied
 * below, and may reserve unique values of documents that are not stored.
 */
async function rebuildIndexes(db: Kysely<unknown>): Promise<void> {
  const indexes = sql`
    select id from document_indexes where state in ('building', 'ready')
    and (database, collection) in (
      select database, collection from jobs
      where kind in ('create', 'patch', 'delete') and (${UNFINISHED} or clean = 1))`
  await sql`delete from index_entries where index_id in (${indexes})`.execute(db)
  await sql`
    update document_indexes set state = 'building', cursor = null, done = 0, total = null
    where id in (${indexes})`.execute(db)
}

/** Writes the documents of committed changes that are not written yet. */
async function applyCommitted(db: Kysely<unknown>): Promise<void> {
  const pending = sql`
    from jobs join job_documents as taken on taken.job = jobs.id
    where jobs.state = 'applying' and taken.id > jobs.cursor and taken.seen <> '*'`
  await sql`
    delete from documents where (database, collection, id) in (
      select jobs.database, jobs.collection, taken.id ${pending} and jobs.kind = 'delete')`.execute(
    db,
  )
  await sql`
    insert or replace into documents (database, collection, id, tag, body)
    select jobs.database, jobs.collection, taken.id, taken.tag, taken.body ${pending}
    and jobs.kind <> 'delete'`.execute(db)
  await sql`
    update jobs set state = 'done', cursor = null, clean = 0 where state = 'applying'`.execute(db)
}

/** Starts running changes again: they have stored nothing yet. */
async function restartChanges(db: Kysely<unknown>): Promise<void> {
  const changes = sql`state = 'running' and kind in ('patch', 'delete')`
  await sql`
    delete from job_documents where job in (select id from jobs where ${changes})`.execute(db)
  await sql`
    update jobs set cursor = null, done = 0, found = 0, claimed_until = 0 where ${changes}`.execute(
    db,
  )
}

/** Maximum number of documents in a part of an import, and of bytes before its last document. */
const PART = { documents: 250, bytes: 256 * 1024 } as const

/** Turns the staged documents of accepted arrays into the parts of an import. */
async function importArrays(db: Kysely<unknown>, engine: EngineName): Promise<void> {
  const running = sql`select id from jobs where kind = 'create' and state = 'running'`
  const part =
    engine === 'sqlite' ? sql`printf('%012d', min(at))` : sql`lpad(cast(min(at) as text), 12, '0')`
  const records =
    engine === 'sqlite'
      ? sql`json_group_array(json_array(at, body) order by at)`
      : sql`cast(json_agg(json_build_array(at, body) order by at) as text)`
  // No document has an id this long.
  const prefix = '0'.repeat(256)
  await sql`
    insert into job_documents (job, id, seen, tag, body)
    select job, ${prefix} || ${part}, '', '', ${records} from (
      select job, body, row_number() over (partition by job order by id) as at,
        sum(octet_length(body)) over (partition by job order by id) as bytes
      from job_documents where job in (${running})) as staged
    group by job, at / ${sql.lit(PART.documents)}, bytes / ${sql.lit(PART.bytes)}`.execute(db)
  await sql`delete from job_documents where tag <> '' and job in (${running})`.execute(db)
  await sql`
    update jobs set request = '{"filter":[],"onConflict":"fail"}', cursor = null, done = 0, found = 0,
      claimed_until = 0
    where kind = 'create' and state = 'running'`.execute(db)
  await sql`
    update jobs set result = '{"created":' || found || ',"replaced":0,"skipped":0,"failed":0,"errors":[]}'
    where kind = 'create' and state = 'done'`.execute(db)
  await sql`update jobs set kind = 'import' where kind = 'create'`.execute(db)
}
