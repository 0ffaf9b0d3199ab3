import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

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

/** A server in a separate process. */
export interface RunningServer {
  readonly process: Pick<ChildProcess, 'pid'>
}

/** Maximum time until a server is ready, ms. */
const TIMEOUT = 120_000

const children = new Set<ChildProcess>()

// Kills all processes, however the run ends.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

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
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  let printed = ''
  let output = Promise.withResolvers<void>()
  const append = (text: string) => {
    printed = (printed + text).slice(-4_000)
    output.resolve()
    output = Promise.withResolvers()
  }
  child.stdout?.setEncoding('utf8').on('data', append)
  child.stderr?.setEncoding('utf8').on('data', append)
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => append(`${error.message}\n`))
    child.once('close', () => {
      children.delete(child)
      resolve()
      output.resolve()
    })
  })
  while (!(await isReady(() => printed))) {
    if (!children.has(child) || performance.now() - begun > TIMEOUT) {
      child.kill('SIGKILL')
      throw new Error(`${command} did not become ready:\n${printed}`)
    }
    await Promise.race([output.promise, pause(20)])
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

/** Returns the CPU time of a process, µs (Linux; a multiple of 10 ms). */
export function processorTime({ process: { pid } }: RunningServer): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name is in parentheses and may contain spaces; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}
