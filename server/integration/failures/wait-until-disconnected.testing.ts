import pg from 'pg'
import { expect, inject } from 'vitest'

/**
 * Waits until PostgreSQL has closed the connections of a killed process: until then it may still be
 * committing. If the URL has an `application_name`, other connections may remain.
 */
export async function waitUntilDisconnected(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    const { pathname, searchParams } = new URL(databaseUrl)
    const values = [pathname.slice(1), searchParams.get('application_name')]
    const count = `select count(*)::int as n from pg_stat_activity
      where datname = $1 and application_name = coalesce($2, application_name)`
    // On a busy machine, PostgreSQL takes longer to end the statement in progress.
    await expect
      .poll(async () => (await client.query(count, values)).rows, { timeout: 60_000 })
      .toEqual([{ n: 0 }])
  } finally {
    await client.end()
  }
}
