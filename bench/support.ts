import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRecorder, START } from '../server/audit/record.ts'
import { writeEndpoint } from '../server/endpoints/bulk/endpoint-writer.ts'
import { openStore } from '../server/storage/open.ts'
import { ask, endpointPath, makeToken } from '../server/test-support/start.testing.ts'
import type { MemoryUse } from './probes/memory-probe.ts'

/** A measured server in a separate process, listening on its own address. */
export interface Subject {
  readonly name: 'Gatehouse' | 'Caddy'
  /** Number of listeners when it was ready. */
  readonly size: number
  readonly host: string
  readonly process: ChildProcess
  /** From spawning the process until it reported that all listeners are open, ms. */
  readonly startTime: number
  /** A path that every listener serves with 200. */
  readonly path: string
  /** Adds a listener on a port; resolves on the response. */
  add(port: number): Promise<void>
  /** Removes a listener; resolves on the response. */
  remove(port: number): Promise<void>
  stop(): Promise<void>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** First port of every subject, below the ephemeral ports of the system. */
export const FIRST_PORT = 10_000
/** Maximum time until a server is ready or a response arrives, ms. */
const PATIENCE = 120_000

const children = new Set<ChildProcess>()
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
let subjects = 0

// Kill all processes and remove all files, however the run ends.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

/** Creates a folder that is removed when the run ends. */
export function makeFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

/** Returns the ports on which a subject of this size listens at first. */
export const portsOf = (size: number): number[] =>
  Array.from({ length: size }, (_, at) => FIRST_PORT + at)

/**
 * Returns an unused address in 127.0.0.0/8, all of which Linux serves. The ports of subjects then
 * conflict neither with each other nor with other runs or with tests on 127.0.0.1.
 */
export const nextHost = (): string =>
  `127.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}.${++subjects}`

/**
 * Creates a data folder with `size` stored endpoints. Each reaches all databases unless
 * `databasesOf` returns others for its port.
 */
export async function storeEndpoints(
  size: number,
  databasesOf: (port: number) => string[] = () => [],
): Promise<{ data: string; host: string }> {
  const host = nextHost()
  const data = makeFolder(`gatehouse-${subjects}`)
  const store = await openStore({ data }, 'tool')
  await Promise.all(
    portsOf(size).map((port) =>
      writeEndpoint(
        store,
        { endpoint: `tcp://${host}:${port}`, databases: databasesOf(port) },
        { record: createRecorder(), actor: START },
      ),
    ),
  )
  await store.close()
  return { data, host }
}

/** A measured node. */
export interface Gatehouse extends Subject {
  /** Sends a request with a token of the operator. */
  readonly administer: (method: string, path: string, body?: unknown) => ReturnType<typeof asked>
}

/**
 * Starts a node on a data folder of {@link storeEndpoints}.
 *
 * @param nodeFlags flags of Node.js itself.
 * @param settings environment variables, `GATEHOUSE_…`; those of the caller are ignored.
 */
export async function startGatehouse(
  size: number,
  { data, host }: { data: string; host: string },
  nodeFlags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Gatehouse> {
  const flags = ['--data', data, '--endpoint', `tcp://${host}:${FIRST_PORT}`, '--drain', '1']
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'))
  const started = await startProcess(
    process.execPath,
    [...nodeFlags, join(ROOT, 'server', 'main.ts'), 'start', ...flags],
    { ...Object.fromEntries(env), ...settings },
    async (printed) => printed().includes('gatehouse is ready'),
  )
  const token = await makeToken({ data, databaseUrl: undefined })
  const administer = (method: string, path: string, body?: unknown) =>
    asked(host, FIRST_PORT, method, path, body, { Authorization: `Bearer ${token}` })
  const { json } = await administer('GET', '/_api/listener')
  const other = json.find(({ state }: { state: string }) => state !== 'listening')
  if (other !== undefined || json.length !== size) {
    throw new Error(`not every endpoint listens: ${other?.error ?? `there are ${json.length}`}`)
  }
  return {
    name: 'Gatehouse',
    size,
    host,
    ...started,
    path: '/_api/health',
    administer,
    async add(port) {
      const endpoint = `tcp://${host}:${port}`
      await administer('POST', '/_api/endpoint', { endpoint, databases: [] })
    },
    async remove(port) {
      await administer('DELETE', endpointPath(`tcp://${host}:${port}`))
    },
  }
}

/**
 * Returns the memory use of a node, as it is or after garbage collection; see `memory-probe.ts`.
 */
export function memoryOf(subject: Subject, which: 'as it is' | 'collected'): Promise<MemoryUse> {
  return new Promise((resolve) => {
    subject.process.once('message', (answer) => resolve(answer as MemoryUse))
    subject.process.send(which)
  })
}

/**
 * Starts a Caddy with `size` servers, each with one listener and the same short response. Features
 * that would slow it down and that Gatehouse does not have are off: certificates, HTTP/2, the
 * access log, and persisting the configuration.
 */
export async function startCaddy(size: number): Promise<Subject> {
  const host = nextHost()
  const home = makeFolder(`caddy-${subjects}`)
  const server = (port: number) => ({
    listen: [`${host}:${port}`],
    protocols: ['h1'],
    automatic_https: { disable: true },
    routes: [{ handle: [{ handler: 'static_response', status_code: 200, body: 'ok' }] }],
  })
  // The administration listens on the port before the first.
  const admin = FIRST_PORT - 1
  const config = {
    admin: { listen: `${host}:${admin}`, config: { persist: false } },
    logging: { logs: { default: { level: 'ERROR' } } },
    apps: {
      http: {
        servers: Object.fromEntries(portsOf(size).map((port) => [`port-${port}`, server(port)])),
      },
    },
  }
  const file = join(home, 'caddy.json')
  await writeFile(file, JSON.stringify(config))
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  const last = FIRST_PORT + size - 1
  const started = await startProcess('caddy', ['run', '--config', file], env, () =>
    answers(host, last, '/'),
  )
  const path = (port: number) => `/config/apps/http/servers/port-${port}`
  return {
    name: 'Caddy',
    size,
    host,
    ...started,
    path: '/',
    async add(port) {
      await patiently(() => asked(host, admin, 'POST', path(port), server(port)))
    },
    async remove(port) {
      await patiently(() => asked(host, admin, 'DELETE', path(port)))
    },
  }
}

/**
 * Starts a process, which is killed at the end of the run at the latest.
 *
 * @param isReady polled; `printed` returns the end of the output.
 * @throws if the process ends, or is not ready after two minutes.
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  isReady: (printed: () => string) => Promise<boolean>,
): Promise<Pick<Subject, 'process' | 'startTime' | 'stop'>> {
  const begun = performance.now()
  // Only the memory probe gets a channel: nodes that are timed have none.
  const channel = args.includes('--expose-gc') ? (['ipc'] as const) : []
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe', ...channel] })
  children.add(child)
  let printed = ''
  let fresh = Promise.withResolvers<void>()
  const hear = (text: string) => {
    printed = (printed + text).slice(-4_000)
    fresh.resolve()
    fresh = Promise.withResolvers()
  }
  child.stdout?.setEncoding('utf8').on('data', hear)
  child.stderr?.setEncoding('utf8').on('data', hear)
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => hear(`${error.message}\n`))
    child.once('close', () => {
      children.delete(child)
      resolve()
      fresh.resolve()
    })
  })
  while (!(await isReady(() => printed))) {
    if (!children.has(child) || performance.now() - begun > PATIENCE) {
      child.kill('SIGKILL')
      throw new Error(`${command} did not get ready:\n${printed}`)
    }
    await Promise.race([fresh.promise, pause(20)])
  }
  return {
    process: child,
    startTime: performance.now() - begun,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      child.kill('SIGTERM')
      await ended
      clearTimeout(timer)
    },
  }
}

async function asked(
  host: string,
  port: number,
  method: string,
  path: string,
  body?: unknown,
  credentials: Record<string, string> = {},
) {
  const type: Record<string, string> =
    body === undefined ? {} : { 'Content-Type': 'application/json' }
  const headers = { ...type, ...credentials }
  const answer = await ask(port, method, path, { host, body, headers })
  if (answer.status >= 200 && answer.status < 300) return answer
  throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
}

/**
 * Retries connections: Caddy reopens its administration at each change, which resets new
 * connections.
 */
async function patiently<T>(task: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await task()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall !== 'connect' || tries === 10) throw error
    }
  }
}

/** Returns whether a port responds with 200, over a new connection. */
export const answers = (host: string, port: number, path: string): Promise<boolean> =>
  ask(port, 'GET', path, { host }).then(
    ({ status }) => status === 200,
    () => false,
  )

/** Returns the processor time of a process, µs (Linux; a multiple of 10 ms). */
export function processorTime({ process: { pid } }: Pick<Subject, 'process'>): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name is in parentheses and may contain spaces; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Returns whether the system refuses connections to a port. */
export function refuses(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })
}

/**
 * Polls without a pause until the condition holds.
 *
 * @throws if it does not hold after two minutes.
 */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('what was asked for did not come about')
  }
}

/** Returns a quantile of the numbers: 0.5 is the median. */
export function quantile(numbers: readonly number[], share = 0.5): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

/**
 * Returns the numbers 0 to `count` - 1 in random order, so that no load always follows the same
 * other.
 */
export function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, at) => ({ at, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ at }) => at)
}
