import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import pretty from 'pino-pretty'
import { discardSecrets } from './access/stored-secrets.ts'
import { COMMAND_LINE, createRecorder } from './audit/record.ts'
import { verifyAuditLog } from './cli/commands/audit-verify.ts'
import { backUpByCommand, restoreByCommand } from './cli/commands/backup.ts'
import { addEndpoint, listEndpoints, removeEndpoint } from './cli/commands/endpoint-add.ts'
import {
  changeRoleByCommand,
  createTokenByCommand,
  operatorKeyByCommand,
} from './cli/commands/token-create.ts'
import type { Config } from './cli/config.ts'
import { type Command, helpText, parseCommandLine, type StoreCommand } from './cli/program.ts'
import { Failure } from './failure.ts'
import { consoleUrls } from './http/static/console-urls.ts'
import { type Node, start } from './start.ts'
import { DamagedStore } from './storage/availability/unavailable.ts'
import { openStore, type Store } from './storage/open.ts'

// The entry point of the process. Exit codes: 0 success, 1 failure, 2 invalid usage.

// In a checkout this is server/main.ts; in the package it is dist/server/main.js.
const ROOT = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '..' : '../..')

const RESTORE =
  'Check the disk and restore a backup. See "When the disk fails" in docs/operating.md.'

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const complain = (text: string) => process.stderr.write(`${text}\n`)

function createLog(config: Config) {
  const options = { level: config.log, base: { node: config.node } }
  if (!process.stdout.isTTY) return pino(options)
  return pino(
    options,
    pretty({
      ignore: 'pid,hostname,node',
      translateTime: 'HH:MM:ss',
      singleLine: true,
      sync: true,
    }),
  )
}

async function run(config: Config): Promise<void> {
  const log = createLog(config)
  const stopping = new AbortController()
  let node: Node | undefined
  let signals = 0
  const stop = (signal: NodeJS.Signals) => {
    if (++signals > 2) process.exit(1)
    log.info({ signal }, signals === 1 ? 'stopping' : 'stopping immediately')
    stopping.abort()
    void node?.stop().then(() => {
      log.info('stopped')
      process.exitCode = 0
    })
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', stop)
  try {
    node = await start(config, log, join(ROOT, 'dist', 'console'), stopping.signal)
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    log.info('stopped')
    return
  }
  log.info({ addresses: node.addresses.length, pid: process.pid }, 'gatehouse is ready')
  // Only on a terminal: log files must not contain the key.
  if (process.stdout.isTTY) {
    const { urls, advice } = consoleUrls(node.adminAddresses, config.publicOrigin)
    print(
      `\n  The console:      ${urls.join('\n                    ') || 'no sign-in URL available'}`,
    )
    if (advice !== undefined) print(`  ${advice}`)
    const { isNew, file, read } = node.operatorKey
    if (isNew) print(`  The operator key: ${read()}\n  It is kept in     ${file}\n`)
    else if (file !== null) print(`  The operator key is in ${file}\n`)
  }
}

/** Opens the store for one task, while a node may be running, and closes it afterwards. */
async function withStore<T>(config: Config, task: (store: Store) => Promise<T>): Promise<T> {
  const { data, databaseUrl } = config
  const store = await openStore(databaseUrl === undefined ? { data } : { databaseUrl }, 'tool')
  try {
    return await task(store)
  } finally {
    await store.close()
  }
}

async function carryOut(command: Command): Promise<void> {
  if (command.name === 'help') return print(helpText())
  if (command.name === 'version') return print(version())
  if (command.name === 'start') return run(command.config)
  if (command.name === 'backup' || command.name === 'restore') {
    const folder = resolve(command.operands[0] ?? '')
    const lines =
      command.name === 'backup'
        ? await backUpByCommand(command.config, folder, version())
        : await restoreByCommand(command.config, folder)
    return print(lines.join('\n'))
  }
  for (const line of await withStore(command.config, (store) => work(store, command))) print(line)
}

const version = (): string => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

/** Runs a command that works on the store. Returns the lines to print. */
async function work(store: Store, command: StoreCommand): Promise<string[]> {
  const { config, operands, flags } = command
  const [first = '', second = ''] = operands
  const record = createRecorder()
  switch (command.name) {
    case 'endpoint list':
      return listEndpoints(store)
    case 'endpoint add':
      return [await addEndpoint(store, record, first, flags.databases)]
    case 'endpoint remove':
      return [await removeEndpoint(store, record, first)]
    case 'token create':
      return [await createTokenByCommand(store, record, flags, Date.now())]
    case 'user role':
      await changeRoleByCommand(store, record, first, second, flags.issuer, config.admins)
      return [`${first} is ${second}`]
    case 'operator-key':
      return [await operatorKeyByCommand(store, record, config, flags.renew !== undefined)]
    case 'secrets discard':
      await discardSecrets(store, record, COMMAND_LINE)
      return ['Deleted the provider tokens. Sessions and API tokens remain valid.']
    case 'audit verify':
      return [await verifyAuditLog(store, flags.last)]
  }
}

const parsed = parseCommandLine(process.argv.slice(2), process.env, process.cwd())
if (parsed.ok) {
  try {
    await carryOut(parsed.command)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    complain(error.message)
    if (error instanceof DamagedStore) complain(RESTORE)
    process.exitCode = 1
  }
} else {
  for (const fault of parsed.faults) complain(fault)
  process.exitCode = 2
}
