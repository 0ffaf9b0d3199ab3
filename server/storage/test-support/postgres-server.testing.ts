import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import {
  findPostgresBinaries,
  type Identity,
  identityForPostgres,
} from './postgres-binaries.testing.ts'

/** The data of a PostgreSQL in a temporary folder, and the programs that work on it. */
export interface Cluster {
  /** The temporary folder. */
  readonly home: string
  readonly data: string
  readonly binaries: string
  readonly identity: Identity
}

/** Makes an empty {@link Cluster}. */
export function makeCluster(): Cluster {
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
  return { home, data, binaries, identity }
}

/**
 * Starts the server of a cluster on the loopback.
 *
 * @param given the port, and further settings of the server; by default any port that is free.
 */
export async function startServer(
  { binaries, data, identity }: Cluster,
  given: { readonly port?: number; readonly settings?: readonly string[] } = {},
): Promise<{ server: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = given.port ?? (await freePort())
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      // What is tested here is our use of PostgreSQL, not its endurance.
      'fsync=off',
      'max_connections=200',
      ...(given.settings ?? []),
    ]
    const server = spawn(
      join(binaries, 'postgres'),
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      { ...identity, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const said = await untilReady(server)
    if (said === undefined) return { server, port }
    // Somebody may have taken the port in between.
    if (attempt === 3) throw new Error(`PostgreSQL does not start:\n${said}`)
  }
}

/** A PostgreSQL of a test's own, to be stopped and started as it likes. */
export interface OwnPostgres {
  readonly port: number
  /** A superuser's URL of its database `postgres`. */
  readonly url: string
  /** Ends it: `SIGINT` cuts its connections and stops, `SIGKILL` is a crash. */
  stop(signal: 'SIGINT' | 'SIGKILL'): Promise<void>
  /** Starts it again where it does not run, on the same port. */
  start(): Promise<void>
  /** Suspends every process of it; Linux only. Returns a function that lets them go on. */
  freeze(): () => void
  /** Ends it for good, with its data. */
  remove(): Promise<void>
}

/** Starts an {@link OwnPostgres}. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const cluster = makeCluster()
  // One that the system gives to nobody else while the server is stopped.
  const [port = 0] = await freePorts(1)
  let server: ChildProcess | undefined = (await startServer(cluster, { port })).server
  const stop = async (signal: 'SIGINT' | 'SIGKILL') => {
    if (server === undefined) return
    // Its processes share what it says on: until the last of them went, none can be started anew.
    const ended = once(server, 'close')
    server.kill(signal)
    server = undefined
    await ended
  }
  return {
    port,
    url: `postgres://gatehouse@127.0.0.1:${port}/postgres`,
    stop,
    async start() {
      server ??= (await startServer(cluster, { port })).server
    },
    freeze() {
      const frozen = server?.pid === undefined ? [] : [server.pid, ...childrenOf(server.pid)]
      const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
        for (const pid of frozen) {
          try {
            process.kill(pid, name)
          } catch {
            // This one has ended.
          }
        }
      }
      signal('SIGSTOP')
      return () => signal('SIGCONT')
    },
    async remove() {
      await stop('SIGKILL')
      rmSync(cluster.home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Returns the processes that a process has started. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Resolves with nothing when the server is ready, with what it said when it ended instead. */
function untilReady(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr?.setEncoding('utf8')
    // Goes on reading for good: a full pipe would stop the server.
    server.stderr?.on('data', (chunk: string) => {
      said += chunk
      if (said.includes('ready to accept connections')) resolve(undefined)
    })
    server.once('close', () => resolve(said))
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
