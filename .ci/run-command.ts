import { spawn } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** How {@link runCommand} runs a command. */
export interface RunOptions {
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** In seconds; after it the command and all it started are killed. */
  readonly limit: number
  /** Whether its output is thrown away. Default: shown. */
  readonly quiet?: boolean
}

const windows = process.platform === 'win32'
const running = new Set<number>()

/** Ends a command with everything that it started and that stayed in its process group. */
function killGroup(pid: number): void {
  try {
    process.kill(windows ? pid : -pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    for (const pid of running) killGroup(pid)
    process.kill(process.pid, signal)
  })
}

/**
 * Runs a command in the root of the repository, with the installed packages' commands first on
 * the path and nothing on standard input. Nothing that it leaves behind outlives it.
 *
 * @returns its exit code; 127 where there is no such command, 124 after its time limit
 */
export function runCommand(
  command: string,
  args: readonly string[],
  { env = {}, limit, quiet = false }: RunOptions,
): Promise<number> {
  const bin = path.join(root, 'node_modules', '.bin')
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}`, ...env },
      stdio: ['ignore', quiet ? 'ignore' : 'inherit', quiet ? 'ignore' : 'inherit'],
      detached: !windows,
      shell: windows,
    })
    const { pid } = child
    let late = false
    const timer = setTimeout(() => {
      late = true
      process.stderr.write(`${command} took longer than ${limit} s and is ended.\n`)
      if (pid !== undefined) killGroup(pid)
    }, limit * 1000)
    if (pid !== undefined) running.add(pid)
    child.once('error', () => {
      clearTimeout(timer)
      if (pid === undefined) resolve(127)
    })
    child.once('exit', (code) => {
      clearTimeout(timer)
      if (pid !== undefined) {
        killGroup(pid)
        running.delete(pid)
      }
      resolve(late ? 124 : (code ?? 1))
    })
  })
}
