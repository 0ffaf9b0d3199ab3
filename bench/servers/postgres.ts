import type { TestProject } from 'vitest/node'
import startTestPostgres from '../../server/storage/test-support/postgres.global-setup.ts'

/** Starts a PostgreSQL server in a temporary folder. Returns its URL and how to stop it. */
export async function startPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
  let url = ''
  const stop = await startTestPostgres({
    provide: (_: string, value: string) => {
      url = value
    },
  } as unknown as TestProject)
  return { url, stop }
}
