import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds the caller to jobs (docs/decisions/0036-fair-queues.md). Existing jobs have none. */
export function jobCallers(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('jobs').addColumn('created_by', 'text').execute()
    },
  }
}
