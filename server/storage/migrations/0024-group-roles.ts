import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Adds to people what set their role. Existing roles and limits count as set by an admin; groups
 * may assign a role to everyone else.
 */
export function groupRoles(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      await db.schema.alterTable('people').addColumn('role_source', 'text').execute()
      await sql`update people set role_source = 'admin'
        where role <> 'pending' or databases is not null`.execute(db)
    },
  }
}
