import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { handleEarlySignals } from './cli/early-signals.ts'
import { createProgram, type Invocation } from './cli/program.ts'

// The entry point of the process. Exit codes: 0 success, 1 failure, 2 invalid usage.

// In a checkout this is server/main.ts; in the package it is dist/server/main.mjs.
const ROOT = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '..' : '../..')

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const printError = (text: string) => process.stderr.write(`${text}\n`)

/**
 * Returns whether SQLite finds a folder for temporary files
 * (https://sqlite.org/tempfiles.html#temporary_file_storage_locations). A container with a read-only
 * root may have none.
 */
function hasTemporaryFolder({ SQLITE_TMPDIR, TMPDIR }: NodeJS.ProcessEnv): boolean {
  return [SQLITE_TMPDIR, TMPDIR, '/var/tmp', '/usr/tmp', '/tmp'].some((folder) => {
    try {
      accessSync(folder ?? '', constants.W_OK | constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Parses the configuration and carries out a command. */
async function carryOut({ settings, ...invocation }: Invocation): Promise<void> {
  const { parseConfig } = await import('./cli/config.ts')
  const parsed = parseConfig(settings, process.env, process.cwd(), invocation.name)
  if (!parsed.ok) {
    for (const error of parsed.errors) printError(error)
    process.exitCode = 2
    return
  }
  if (!hasTemporaryFolder(process.env)) process.env.SQLITE_TMPDIR = parsed.config.data
  const { runCommand } = await import('./cli/run-command.ts')
  const context = { ...invocation, config: parsed.config, root: ROOT, version }
  for (const line of await runCommand(context)) process.stdout.write(`${line}\n`)
}

/** Sets the exit code and prints the error. Throws errors in the program. */
async function fail(error: unknown): Promise<void> {
  if (error instanceof CommanderError) {
    // Commander has printed it. Its code is 0 for help and version.
    process.exitCode = error.exitCode === 0 ? 0 : 2
    return
  }
  const { explainFailure } = await import('./cli/explain-failure.ts')
  printError(explainFailure(error))
  process.exitCode = 1
}

// Without a listener, the error would end the process, and a running node with it.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // A command such as `head` closes the pipe once it has read enough.
  if (code !== 'EPIPE') printError(`The output could not be written: ${message}.`)
  process.exitCode = 1
})
process.stderr.on('error', () => {})

handleEarlySignals(process)
await createProgram(version, carryOut)
  .parseAsync(process.argv.slice(2), { from: 'user' })
  .catch(fail)
