import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { EngineName } from '../engine.ts'

/**
 * Another role is told to all nodes. Sessions end with a role, and tell of it by themselves; tokens
 * stay, and are worth another role.
 */
export function roleNotices(engine: EngineName): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      if (engine !== 'postgres') return
      // Some stores have had the trigger since 0006-nodes.
      await sql`
        create or replace trigger people_notice after update of role on people
        for each row when (old.role is distinct from new.role)
        execute function gatehouse_notice('access')`.execute(db)
    },
  }
}
