import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Moves the documents of arrays from `job_parts` to `job_documents`, where they are now stored on
 * arrival, and drops `job_parts`.
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
