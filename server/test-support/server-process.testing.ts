import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { StoreLocation } from '../storage/open.ts'

/** The entry point, as started from a checkout. */
export const SOURCE = fileURLToPath(new URL('../main.ts', import.meta.url))

/** The entry point of the tests: `npm test` names a bundle of the sources, which starts faster. */
export const MAIN = process.env.GATEHOUSE_TEST_MAIN ?? SOURCE

/** The secrets of a server without a data folder, in its environment. */
export const SECRETS = {
  GATEHOUSE_OPERATOR_KEY: 'operator-key-of-the-tests-and-nothing-else',
  GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}

/** Returns the flags of `gatehouse` that select a store. */
export const storeFlags = (location: StoreLocation): string[] =>
  'data' in location ? ['--data', location.data] : ['--database-url', location.databaseUrl]

/** How a server ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A server in a separate process. */
export interface ServerProcess {
  readonly pid: number
  /** Returns everything that it has printed. */
  printed(): string
  /** Sends a signal without waiting. */
  signal(name: NodeJS.Signals): void
  /** Resolves when the process has ended. */
  readonly exit: Promise<Exit>
}

export interface ProcessOptions {
  /** The file to run; default {@link MAIN}. */
  readonly main?: string
  /** A program that starts the server, with its arguments, such as `setpriv`. */
  readonly through?: readonly string[]
  /** Flags of Node.js. */
  readonly nodeFlags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Starts a server in a separate process and waits until it is ready.
 *
 * @param flags of `gatehouse start`.
 * @throws with its output if it ends instead.
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
    // Without the `GATEHOUSE_` variables of the developer.
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

/** Kills every running server that {@link startProcess} started; for `afterEach`. */
export async function killProcesses(): Promise<void> {
  const running = [...children]
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(
    running.map((child) => new Promise<void>((resolve) => child.once('close', () => resolve()))),
  )
}

const foreign = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GATEHOUSE_')))
