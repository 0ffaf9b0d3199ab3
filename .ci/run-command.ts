import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

export interface RunOptions {
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Time limit, seconds. The command and its process group are then killed. */
  readonly limit: number
  /**
   * A file that grows while the command makes progress. If it does not grow for `limit` seconds,
   * the command is killed.
   */
  readonly progress?: { readonly file: string; readonly limit: number }
  /** Whether its output is discarded. Default: shown. */
  readonly quiet?: boolean
  /** Receives its output instead, in parts. */
  readonly print?: (part: string) => void
}

/** The exit code of a command that was killed at its limit. */
export const STOPPED = 124

const windows = process.platform === 'win32'
const running = new Set<number>()

/** Kills the process group of a command. */
function killGroup(pid: number): void {
  try {
    process.kill(windows ? pid : -pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const pid of running) killGroup(pid)
    process.kill(process.pid, signal)
  })
}

/** Calls `stop` when the file has not grown for `limit` seconds. */
function watchProgress(
  { file, limit }: { readonly file: string; readonly limit: number },
  stop: (reason: string) => void,
): NodeJS.Timeout {
  let size = 0
  let grown = performance.now()
  return setInterval(
    () => {
      const now = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      if (now !== size) grown = performance.now()
      else if (performance.now() - grown > limit * 1000) stop(`made no progress for ${limit} s`)
      size = now
    },
    Math.min(1000, limit * 200),
  )
}

/**
 * Runs a command in the root of the repository, with the commands of installed packages first on
 * the PATH and no standard input. Its process group is killed when it ends.
 *
 * @returns its exit code; 127 for an unknown command, {@link STOPPED} after a limit
 */
export function runCommand(
  command: string,
  args: readonly string[],
  { env = {}, limit, progress, quiet = false, print }: RunOptions,
): Promise<number> {
  const bin = path.join(root, 'node_modules', '.bin')
  const output = quiet ? 'ignore' : print === undefined ? 'inherit' : 'pipe'
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}`, ...env },
      stdio: ['ignore', output, output],
      detached: !windows,
      shell: windows,
    })
    const { pid } = child
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (part: string) => print?.(part))
    }
    let stopped = false
    const stop = (reason: string) => {
      stopped = true
      process.stderr.write(`${command} ${reason} and is stopped.\n`)
      if (pid !== undefined) killGroup(pid)
    }
    const timer = setTimeout(() => stop(`took longer than ${limit} s`), limit * 1000)
    const watcher = progress && watchProgress(progress, stop)
    const settle = () => {
      clearTimeout(timer)
      clearInterval(watcher)
    }
    if (pid !== undefined) running.add(pid)
    child.once('error', () => {
      settle()
      if (pid === undefined) resolve(127)
    })
    child.once('exit', (code) => {
      settle()
      if (pid !== undefined) {
        killGroup(pid)
        running.delete(pid)
      }
      const end = () => resolve(stopped ? STOPPED : (code ?? 1))
      // The rest of the output arrives after the exit.
      if (print === undefined) end()
      else child.once('close', end)
    })
  })
}
