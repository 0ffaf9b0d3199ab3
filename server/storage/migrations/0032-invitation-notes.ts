import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Adds notes to invitations. */
export const invitationNotes = (): Migration => ({
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table invitations add column note text`.execute(db)
  },
})
