import type { TestProject } from 'vitest/node'
import startTestPostgres from '../../server/storage/test-support/postgres.global-setup.ts'

/**
 * Starts a PostgreSQL server in a temporary folder. Returns its URL and how to stop it.
 *
 * @param settings such as `fsync=on`, which is off by default.
 */
export async function startPostgres(
  settings: readonly string[] = [],
): Promise<{ url: string; stop: () => Promise<void> }> {
  let url = ''
  const project = {
    provide: (_: string, value: string) => {
      url = value
    },
  } as unknown as TestProject
  const stop = await startTestPostgres(project, settings)
  return { url, stop }
}
