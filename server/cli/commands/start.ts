import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { pino } from 'pino'
import { replaceControlsInJson } from '../../control-characters.ts'
import { consoleUrls } from '../../http/static/console-urls.ts'
import { type Node, start } from '../../start.ts'
import type { CommandContext } from '../command.ts'
import type { Config } from '../config.ts'
import { stopHandlingEarlySignals } from '../early-signals.ts'
import { LogOutput, openLogFile, openStandardOutput } from '../log-output.ts'
import { findUnknownVariables } from '../misspelled-variables.ts'
import { releaseMemoryWhenIdle } from '../release-memory.ts'

/**
 * Repeated signals within this time are one, ms: npm and the launcher (`bin/gatehouse.js`) forward a
 * Ctrl-C that the terminal has already sent.
 */
const REPEAT_WINDOW = 1_000

/** Maximum time that the end of the process waits for a reader of its output, ms. */
const EXIT_DELAY = 1_000

/** Starts a node, which runs until a signal stops it. Returns when the node is ready or stopped. */
export async function run({ config, root }: CommandContext): Promise<readonly string[]> {
  const standardOutput = openStandardOutput(process.stdout)
  const output = new LogOutput(standardOutput)
  const log = await createLog(config, output)
  const { accessLog: path } = config
  const file = path === undefined || path === '-' ? undefined : openLogFile(path)
  const accessLog = path === undefined ? undefined : new LogOutput(file?.stream ?? standardOutput)
  for (const message of findUnknownVariables(process.env)) log.warn(message)
  const stopping = new AbortController()
  let node: Node | undefined
  let signals = 0
  const last = new Map<NodeJS.Signals, number>()
  const stop = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (now - (last.get(signal) ?? Number.NEGATIVE_INFINITY) < REPEAT_WINDOW) return
    last.set(signal, now)
    if (++signals > 2) process.exit(1)
    log.info({ signal }, signals === 1 ? 'stopping' : 'stopping immediately')
    stopping.abort()
    void node?.stop().then(() => {
      log.info('stopped')
      process.exitCode = 0
      exitSoon()
    })
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', stop)
  // Without an access log, too: otherwise the signal would end the process.
  process.on('SIGUSR2', () => file?.reopen())
  stopHandlingEarlySignals(process)
  try {
    const consoleFolder = join(root, 'dist', 'console')
    const outputs = { log: output, accessLog }
    node = await start(config, log, consoleFolder, stopping.signal, outputs)
  } catch (error) {
    exitSoon()
    if (!stopping.signal.aborted) throw error
    log.info('stopped')
    return []
  }
  allocateInYoungGeneration()
  releaseMemoryWhenIdle(() => log.debug('released unused memory'))
  const { addresses } = node
  const pid = process.pid
  log.info(
    { addresses: addresses.length, pid, ...signInFields(node, config) },
    'gatehouse is ready',
  )
  // Only on a terminal: log files must not contain the key.
  return process.stdout.isTTY ? startMessage(node, config) : []
}

/** Returns the fields of the log line that say how to sign in; none on a terminal, which shows a message. */
function signInFields({ adminAddresses, operatorKey }: Node, { publicOrigin }: Config) {
  if (process.stdout.isTTY) return {}
  const { urls } = consoleUrls(adminAddresses, publicOrigin)
  return { console: urls, operatorKeyFile: operatorKey.file }
}

/** Ends the process soon, even if its output is not read. It ends earlier if nothing waits. */
const exitSoon = () => void setTimeout(() => process.exit(), EXIT_DELAY).unref()

async function createLog(config: Config, output: LogOutput) {
  const options = {
    level: config.log,
    base: { node: config.node },
    hooks: { streamWrite: replaceControlsInJson },
  }
  if (!process.stdout.isTTY) return pino(options, output)
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({
    ignore: 'pid,hostname,node',
    translateTime: 'HH:MM:ss',
    singleLine: true,
  })
  return pino(options, { write: (line) => output.write(format(line)) })
}

/** Returns the lines that tell an operator where the console is and how to sign in. */
function startMessage({ adminAddresses, operatorKey }: Node, config: Config): string[] {
  const { urls, advice } = consoleUrls(adminAddresses, config.publicOrigin)
  const { isNew, file, read } = operatorKey
  const shown = urls.join('\n                    ') || 'no sign-in URL available'
  return [
    `\n  The console:      ${shown}`,
    ...(advice === undefined ? [] : [`  ${advice}`]),
    ...(isNew ? [`  The operator key: ${read()}\n  It is kept in     ${file}\n`] : []),
    ...(!isNew && file !== null ? [`  The operator key is in ${file}\n`] : []),
  ]
}

/**
 * Makes V8 allocate all objects in the young generation
 * (docs/decisions/0029-flags-of-the-garbage-collector.md). Set when the node is ready: V8 rejects the
 * compiled code of Node.js's own modules under other flags, which makes a start 20 ms longer.
 */
export const allocateInYoungGeneration = (): void =>
  setFlagsFromString('--no-allocation-site-pretenuring')
