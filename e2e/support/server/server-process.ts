import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Maximum time for a server to be ready, and to stop, ms. */
const PATIENCE = 60_000

/** A running server. */
export interface ServerProcess {
  readonly pid: number
  /** Stops it gracefully and waits. If it takes too long, kills it and throws. */
  stop(): Promise<void>
  /** Kills it, as a power cut would. */
  kill(): Promise<void>
}

export interface ServerOptions {
  readonly port: number
  readonly data: string
  /** How long connections may finish, seconds; default 1. */
  readonly drain?: number
  /** More flags of `gatehouse start`. */
  readonly flags?: readonly string[]
  /** A program that starts the server, with its arguments, such as one that drops a capability. */
  readonly launcher?: readonly string[]
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Called with all output of the server. */
  readonly print: (text: string) => void
}

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/**
 * Starts a server and waits until it is ready.
 *
 * @throws if it exits or is not ready in time; no process is left running
 */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { port, data, drain = 1, flags = [], launcher = [], env = {}, print } = options
  const [command = process.execPath, ...before] = [...launcher, process.execPath]
  const child = spawn(
    command,
    [
      ...before,
      // `npm test` names a bundle of the sources, which starts faster.
      process.env.GATEHOUSE_TEST_MAIN ?? 'server/main.ts',
      'start',
      ...['--endpoint', `tcp://127.0.0.1:${port}`, '--data', data],
      ...['--log', 'info', '--drain', `${drain}`],
      ...flags,
    ],
    // Without the `GATEHOUSE_` variables of the developer.
    { cwd: root, env: { ...foreign(process.env), ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  child.stdout.setEncoding('utf8').on('data', print)
  child.stderr.setEncoding('utf8').on('data', print)
  const exit = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      print(`${error.message}\n`)
      resolve()
    })
  })

  const end = async (signal: NodeJS.Signals) => {
    if (!isOver(child)) child.kill(signal)
    await exit
  }
  const kill = () => end('SIGKILL')

  const isReady = async () => {
    try {
      return (await fetch(`http://127.0.0.1:${port}/_api/health`)).status === 200
    } catch {
      return false
    }
  }
  const deadline = performance.now() + PATIENCE
  while (!(await isReady())) {
    if (child.pid === undefined || isOver(child)) {
      await exit
      throw new Error(`the server ended (exit code ${child.exitCode}) instead of getting ready`)
    }
    if (performance.now() > deadline) {
      await kill()
      throw new Error(`the server was not ready after ${PATIENCE} ms`)
    }
    // Readiness can only be polled.
    await pause(20)
  }

  return {
    pid: child.pid ?? Number.NaN,
    kill,
    async stop() {
      let late = false
      const timer = setTimeout(() => {
        late = true
        child.kill('SIGKILL')
      }, PATIENCE)
      await end('SIGTERM').finally(() => clearTimeout(timer))
      if (late) throw new Error(`the server had not stopped after ${PATIENCE} ms`)
    },
  }
}

function foreign(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GATEHOUSE_')))
}
