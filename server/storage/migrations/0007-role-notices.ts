import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Notifies all nodes when a person's role changes. The person's sessions are deleted with the
 * change, which already sends a notification. Tokens are kept, but their permissions change.
 */
export function roleNotices(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      if (engine !== 'postgres') return
      // Some stores already have the trigger from 0006-nodes.
      await sql`
        create or replace trigger people_notice after update of role on people
        for each row when (old.role is distinct from new.role)
        execute function gatehouse_notice('access')`.execute(db)
    },
  }
}
