import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Documents of arrays are stored as documents of their job when they arrive, no longer in parts. The
 * parts of jobs that run are converted.
 */
export function stagedDocuments(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      if (engine === 'sqlite') {
        await sql`
          insert into job_documents (job, id, seen, tag, body)
          select job, value ->> 0, '', lower(hex(randomblob(16))), value ->> 1
          from job_parts, json_each(documents)`.execute(db)
      } else {
        await sql`
          insert into job_documents (job, id, seen, tag, body)
          select job, value ->> 0, '', md5(random()::text), value ->> 1
          from job_parts, json_array_elements(documents::json) as value`.execute(db)
      }
      await sql`
        update jobs set done = (select count(*) from job_documents where job = jobs.id)
        where kind = 'create' and state = 'running'`.execute(db)
      await db.schema.dropTable('job_parts').execute()
    },
  }
}
