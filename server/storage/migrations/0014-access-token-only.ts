import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Removes the refresh tokens of providers and the expiry of access tokens: both are unused. */
export function accessTokenOnly(): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      for (const table of ['people', 'sessions']) {
        for (const column of ['refresh_token', 'token_expires_at']) {
          await db.schema.alterTable(table).dropColumn(column).execute()
        }
      }
    },
  }
}
