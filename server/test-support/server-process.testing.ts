import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** `node server/main.ts`, as it is started from a checkout. */
export const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

/** How a server ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server in a process of its own. */
export interface ServerProcess {
  readonly pid: number
  /** Everything that it has printed. */
  printed(): string
  /** Sends it a signal; nobody waits. */
  signal(name: NodeJS.Signals): void
  /** Resolves when it has ended, and everything of it is gone. */
  readonly exit: Promise<Exit>
}

/** How {@link startProcess} starts a server. */
export interface ProcessOptions {
  /** What it is, {@link MAIN} unless told otherwise. */
  readonly main?: string
  /** A program that starts it, with its arguments, such as `setpriv`. */
  readonly through?: readonly string[]
  /** Flags of Node.js. */
  readonly nodeFlags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Starts a server in a process of its own and waits until it says that it is ready.
 *
 * @param flags of `gatehouse start`.
 * @throws with what it printed when it ends instead.
 */
export async function startProcess(
  flags: readonly string[],
  { main = MAIN, through = [], nodeFlags = [], env = {} }: ProcessOptions = {},
): Promise<ServerProcess> {
  const [program = '', ...words] = [
    ...through,
    process.execPath,
    ...nodeFlags,
    main,
    'start',
    ...flags,
  ]
  const child = spawn(program, words, {
    // Without the variables of a developer's own Gatehouse.
    env: { ...foreign(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal })
    })
  })
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      printed += `${line}\n`
      if (line.includes('gatehouse is ready')) resolve()
    })
    exit.then(
      ({ code }) => reject(new Error(`the server ended with ${code}:\n${printed}`)),
      (error: unknown) => reject(error),
    )
  })
  return {
    pid: child.pid ?? Number.NaN,
    printed: () => printed,
    signal: (name) => void child.kill(name),
    exit,
  }
}

const children = new Set<ChildProcess>()

/** Kills every server that {@link startProcess} started and that still runs; for `afterEach`. */
export async function killProcesses(): Promise<void> {
  const left = [...children]
  for (const child of left) child.kill('SIGKILL')
  await Promise.all(
    left.map((child) => new Promise<void>((resolve) => child.once('close', () => resolve()))),
  )
}

const foreign = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GATEHOUSE_')))
