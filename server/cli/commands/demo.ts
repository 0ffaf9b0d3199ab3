import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type DemoCounts, runDemo } from '../../demo/demo.ts'
import { start } from '../../start.ts'
import type { RunCommand } from '../command.ts'
import { parseConfig } from '../config.ts'
import { stopHandlingEarlySignals } from '../early-signals.ts'
import { run as createToken } from './token-create.ts'

/** Interval of the status line, ms. */
const STATUS_INTERVAL = 1_000

/** Runs a node with sample data and clients until a signal ends it, and removes everything. */
export const run: RunCommand = async (context) => {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A second signal, such as the one that npm passes on, changes nothing.
    process.on(signal, () => stopping.abort())
  }
  stopHandlingEarlySignals(process)
  const stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const counts = { responses: 0, rejected: 0 }
  try {
    await buildConsole(context.root, stopping.signal)
    await runDemo({
      async start(flags, env) {
        const parsed = parseConfig(flags, env, folder)
        if (!parsed.ok) throw new Error(parsed.errors.join('\n'))
        const { config } = parsed
        const consoleFolder = join(context.root, 'dist', 'console')
        const log = pino({ level: config.log })
        const node = await start(config, log, consoleFolder, stopping.signal)
        const options = { name: 'demo', role: 'admin' }
        const [token = ''] = await createToken({ ...context, config, options })
        return { node, token }
      },
      folder,
      stack,
      stopping: stopping.signal,
      counts,
      onReady({ console, operatorKey }) {
        process.stdout.write(
          `\n  The console:      ${console}\n  The operator key: ${operatorKey}\n` +
            '  "Demo People" signs you in as anyone. Ctrl-C ends the demo and removes its data.\n\n',
        )
        if (process.stdout.isTTY) stack.adopt(showStatus(counts), clearInterval)
      },
    })
  } catch (error) {
    if (!stopping.signal.aborted) throw error
  } finally {
    await stack.disposeAsync()
  }
  // The idle connections of the clients would keep the process for some seconds.
  setTimeout(() => process.exit(), 0).unref()
  return ['', 'The demo has ended, and its data was removed.']
}

/** Shows the load in one line of the terminal, which each update overwrites. */
function showStatus(counts: DemoCounts): NodeJS.Timeout {
  let last = 0
  return setInterval(() => {
    const { responses, rejected } = counts
    process.stdout.write(
      `\r  ${responses - last} requests/s, ${responses} in all, ${rejected} of them rejected\u001B[K`,
    )
    last = responses
  }, STATUS_INTERVAL)
}

/**
 * Builds the console if its sources have changed, in a checkout. A package contains the console.
 *
 * @throws Error if the build failed, which has printed why.
 */
async function buildConsole(root: string, signal: AbortSignal): Promise<void> {
  const tool = join(root, 'tools', 'build-console.js')
  if (!existsSync(tool)) return
  const child = spawn(process.execPath, [tool], { stdio: ['ignore', 'inherit', 'inherit'], signal })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error('The console could not be built.')
}
