import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import {
  findPostgresBinaries,
  type Identity,
  identityForPostgres,
} from './postgres-binaries.testing.ts'

/** A PostgreSQL data directory in a temporary folder, and the programs for it. */
export interface Cluster {
  readonly home: string
  readonly data: string
  readonly binaries: string
  readonly identity: Identity
}

/** The database of the whole run's server that has all tables and no rows. */
export const TEMPLATE = 'gatehouse_template'

/** Creates an empty cluster. */
export function makeCluster(): Cluster {
  const identity = identityForPostgres()
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-postgres-'))
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(home, identity.uid, identity.gid)
  }
  const binaries = findPostgresBinaries(home, identity)
  const data = join(home, 'data')
  // Sorts by locale, like most production servers, so that code that relies on code-point order
  // fails.
  const locale = ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en-US', '--locale=C']
  const user = ['--auth=trust', '--username=gatehouse']
  execFileSync(join(binaries, 'initdb'), [`--pgdata=${data}`, ...user, ...locale, '--no-sync'], {
    ...identity,
    cwd: home,
  })
  return { home, data, binaries, identity }
}

/**
 * Starts the server of a cluster on the loopback interface.
 *
 * @param options port and additional server settings. By default, the server uses a free port.
 */
export async function startServer(
  { binaries, data, identity }: Cluster,
  options: { readonly port?: number; readonly settings?: readonly string[] } = {},
): Promise<{ server: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort())
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      // Durability of PostgreSQL itself is not under test.
      'fsync=off',
      'max_connections=200',
      ...(options.settings ?? []),
    ]
    const server = spawn(
      join(binaries, 'postgres'),
      ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      { ...identity, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const said = await untilReady(server)
    if (said === undefined) return { server, port }
    // Another process may have taken the port in the meantime.
    if (attempt === 3) throw new Error(`PostgreSQL does not start:\n${said}`)
  }
}

/** A PostgreSQL server that a test can stop and start. */
export interface OwnPostgres {
  readonly port: number
  /** URL of the database `postgres`, as superuser. */
  readonly url: string
  /** Stops the server. `SIGINT` closes its connections first, `SIGKILL` simulates a crash. */
  stop(signal: 'SIGINT' | 'SIGKILL'): Promise<void>
  /** Starts the server again on the same port, if it is not running. */
  start(): Promise<void>
  /** Suspends all processes of the server (Linux only). Returns a function that resumes them. */
  freeze(): () => void
  /** Stops the server and deletes its data. */
  remove(): Promise<void>
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const cluster = makeCluster()
  // A port that the system does not assign to other processes while the server is stopped.
  const [port = 0] = await freePorts(1)
  let server: ChildProcess | undefined = (await startServer(cluster, { port })).server
  const stop = async (signal: 'SIGINT' | 'SIGKILL') => {
    if (server === undefined) return
    // All server processes share the stderr pipe, so 'close' means that the last one has exited.
    // The server cannot be started again earlier.
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
            // The process has exited.
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

/** Returns the process ids of the direct children of a process. */
const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

/** Resolves with undefined when the server is ready, or with its output if it exits instead. */
function untilReady(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.stderr?.setEncoding('utf8')
    // Keeps reading, because a full pipe would block the server.
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
