import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** How long a server may take to be ready, and to stop, in milliseconds. */
const PATIENCE = 60_000

/** A running server. */
export interface ServerProcess {
  readonly pid: number
  /** Asks it to stop and waits until it has; kills it when it takes too long, and then throws. */
  stop(): Promise<void>
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>
}

/** Where a server listens and keeps its data. */
export interface ServerOptions {
  readonly port: number
  readonly data: string
  /** How long it lets connections finish, in seconds; left out: 1. */
  readonly drain?: number
  /** More flags of `gatehouse start`. */
  readonly flags?: readonly string[]
  /** What starts it, before its own command line: such as a program that takes away a right. */
  readonly launcher?: readonly string[]
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Is told everything that the server prints. */
  readonly print: (text: string) => void
}

/** Makes an admin's token by the command line, beside the server that runs on this data. */
export async function createToken(data: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      'server/main.ts',
      'token',
      'create',
      ...['--data', data, '--name', 'journey', '--role', 'admin'],
    ],
    { cwd: root, env: foreign(process.env) },
  )
  return stdout.trim()
}

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/**
 * Starts a real server and waits until it is ready.
 *
 * @throws when it ends instead, or is not ready in time; nothing is left running then
 */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { port, data, drain = 1, flags = [], launcher = [], env = {}, print } = options
  const [command = process.execPath, ...before] = [...launcher, process.execPath]
  const child = spawn(
    command,
    [
      ...before,
      'server/main.ts',
      'start',
      ...['--endpoint', `tcp://127.0.0.1:${port}`, '--data', data],
      ...['--log', 'info', '--drain', `${drain}`],
      ...flags,
    ],
    // Without the variables of a developer's own Gatehouse.
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
    // There is nothing to wait for but its answer: ask again.
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
