import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Hosts with network namespaces of their own on this machine, which simulate several machines. */
export interface Networks {
  /** The addresses of the hosts, in order. */
  readonly hosts: readonly string[]
  /** Returns the command prefix that starts a program on a host. */
  through(at: number): string[]
  /**
   * Returns the path of a Unix socket that forwards to a port of a host. The process behind the
   * port may change.
   */
  forwardTo(host: string, port: number): Promise<string>
  /**
   * Starts another program that listens on a port of a host. Resolves with a function that stops
   * it.
   */
  occupy(at: number, port: number): Promise<() => Promise<void>>
  /** Returns a URL, valid on all hosts, of a PostgreSQL that listens on this machine's loopback. */
  urlOf(databaseUrl: string): Promise<string>
  remove(): void
}

const FORWARD = fileURLToPath(new URL('forward.testing.ts', import.meta.url))

/**
 * Creates `count` network namespaces with one host each and a bridge between them. The network of
 * the machine is not affected. The namespaces end with the processes that hold them.
 */
export async function createNetworks(count: number): Promise<Networks> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-networks-'))
  const holders: ChildProcess[] = []
  const servers: Server[] = []
  const hold = async (words: readonly string[], ready: string) => {
    const [program = '', ...rest] = words
    // Exits when its standard input ends, so it always ends with this process.
    const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
    holders.push(child)
    for await (const text of child.stdout
      .setEncoding('utf8')
      .iterator({ destroyOnReturn: false })) {
      if (text.includes(ready)) return child.pid ?? 0
    }
    throw new Error(`${words.join(' ')} ended`)
  }
  const network = () => hold(['unshare', '-n', 'sh', '-c', 'ip link set lo up; echo up; cat'], 'up')
  const at = (pid: number, ...words: string[]) =>
    execFileSync('nsenter', ['-t', String(pid), '-n', ...words])

  const bridge = await network()
  at(bridge, 'ip', 'link', 'add', 'name', 'bridge', 'type', 'bridge')
  at(bridge, 'ip', 'addr', 'add', '10.86.0.254/24', 'dev', 'bridge')
  at(bridge, 'ip', 'link', 'set', 'bridge', 'up')
  const pids: number[] = []
  const hosts: string[] = []
  for (let n = 1; n <= count; n++) {
    const pid = await network()
    const [near, host] = [`host${n}`, `10.86.0.${n}`]
    const pair = ['type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)]
    at(bridge, 'ip', 'link', 'add', 'name', near, ...pair)
    at(bridge, 'ip', 'link', 'set', near, 'master', 'bridge', 'up')
    at(pid, 'ip', 'addr', 'add', `${host}/24`, 'dev', 'eth0')
    at(pid, 'ip', 'link', 'set', 'eth0', 'up')
    pids.push(pid)
    hosts.push(host)
  }

  return {
    hosts,
    through: (n) => ['nsenter', '-t', String(pids[n]), '-n'],
    async forwardTo(host, port) {
      const path = join(folder, `${host}-${port}`)
      const words = ['nsenter', '-t', String(bridge), '-n', process.execPath, FORWARD]
      await hold([...words, path, host, String(port)], 'ready')
      return path
    },
    async occupy(n, port) {
      const script = `require('net').createServer().listen(${port}, () => console.log('ready'))`
      const words = ['nsenter', '-t', String(pids[n]), '-n', process.execPath, '-e', script]
      await hold(words, 'ready')
      const holder = holders.at(-1)
      return async () => {
        const ended = holder && once(holder, 'exit')
        holder?.kill('SIGKILL')
        await ended
      }
    },
    async urlOf(databaseUrl) {
      const { username, hostname, port, pathname } = new URL(databaseUrl)
      const home = join(folder, `postgres-${servers.length}`)
      mkdirSync(home)
      // Unix sockets are in the file system, which all network namespaces share.
      const server = createServer((client) => {
        const postgres = connect(Number(port), hostname)
        client.pipe(postgres).pipe(client)
        client.on('error', () => postgres.destroy())
        postgres.on('error', () => client.destroy())
      }).listen(join(home, '.s.PGSQL.5432'))
      servers.push(server)
      await once(server, 'listening')
      return `postgres://${username}@${encodeURIComponent(home)}${pathname}`
    },
    remove() {
      for (const holder of holders) holder.kill('SIGKILL')
      for (const server of servers) server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
