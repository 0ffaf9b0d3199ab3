import { type Config, parseConfig } from './config.ts'
import type { Environment } from './config-access.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

/** The syntax of a command, and its help text. */
interface Spec {
  /** Positional arguments, in order; all are required. */
  readonly operands: readonly string[]
  /**
   * The command's own flags, besides those of the configuration; `null` for a flag without a value.
   */
  readonly flags: Readonly<Record<string, string | null>>
  /** The flags that are required. */
  readonly needed?: readonly string[]
  readonly help: string
}

/** Every command except `help` and `version`, by name. */
const COMMANDS = {
  start: { operands: [], flags: {}, help: 'start a node (default command)' },
  'endpoint list': { operands: [], flags: {}, help: 'list the stored endpoints' },
  'endpoint add': {
    operands: ['ADDRESS'],
    flags: { databases: 'a,b' },
    help: 'store an endpoint; a running node opens it',
  },
  'endpoint remove': {
    operands: ['ADDRESS'],
    flags: {},
    help: 'remove an endpoint; a running node closes it',
  },
  'token create': {
    operands: [],
    flags: { name: 'NAME', role: 'ROLE', databases: 'a,b', expires: '30d' },
    needed: ['name', 'role'],
    help: 'create an API token with the role viewer, operator or admin, and print only the token',
  },
  'user role': {
    operands: ['USERNAME', 'ROLE'],
    flags: { issuer: 'URL' },
    help: 'change the role of a person, such as github:583231; the role none removes access',
  },
  'operator-key': {
    operands: [],
    flags: { renew: null },
    help: 'print the operator key; with --renew, replace it and end the sessions started with the old key',
  },
  'secrets discard': {
    operands: [],
    flags: {},
    help: 'delete the stored provider tokens, if the secret key that encrypts them is lost',
  },
  backup: {
    operands: ['FOLDER'],
    flags: {},
    help: 'write a backup of the database and its keys to a new or empty folder; nodes can keep running',
  },
  restore: {
    operands: ['FOLDER'],
    flags: {},
    help: 'restore a backup into an empty data folder or database; no node may be running on it',
  },
  'audit verify': {
    operands: [],
    flags: { last: 'HASH' },
    help: 'verify the audit log and print its last row as N:HASH; with --last, the log must contain that row',
  },
} as const satisfies Record<string, Spec>

export type CommandName = keyof typeof COMMANDS

/** A command with its arguments. */
export interface GivenCommand<Name extends CommandName> {
  readonly name: Name
  readonly config: Config
  /** As many as the command requires. */
  readonly operands: readonly string[]
  /** The command's own flags that were given; '' for a flag without a value. */
  readonly flags: Readonly<Record<string, string>>
}

/** A command that copies a whole store. */
export type BackupCommand = GivenCommand<'backup'> | GivenCommand<'restore'>

/** A command that works on the store while a node may be running. */
export type StoreCommand = GivenCommand<Exclude<CommandName, 'start' | 'backup' | 'restore'>>

export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | GivenCommand<'start'>
  | BackupCommand
  | StoreCommand

/** The command, or a message for each error. */
export type ParsedCommandLine =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly faults: readonly string[] }

/**
 * Parses a command line and the environment into a {@link Command}. Reports all errors at once.
 *
 * @param argv the arguments after the program name.
 * @param folder the folder that relative paths are resolved against.
 */
export function parseCommandLine(
  argv: readonly string[],
  env: Environment,
  folder: string,
): ParsedCommandLine {
  if (argv.includes('--help') || argv.includes('-h') || argv[0] === 'help') {
    return { ok: true, command: { name: 'help' } }
  }
  if (argv.includes('--version')) return { ok: true, command: { name: 'version' } }

  const name = nameOf(argv)
  if (name === undefined) return { ok: false, faults: [unknown(argv)] }
  const spec: Spec = COMMANDS[name]
  const parsed = parseConfig(argv, env, folder, { command: name, flags: spec.flags })
  const faults = parsed.ok ? [] : [...parsed.faults]
  const { words, extra } = parsed
  const operands = words.slice(words[0] === name.split(' ')[0] ? name.split(' ').length : 0)
  for (const missing of spec.operands.slice(operands.length)) {
    faults.push(`${name} requires ${missing}.`)
  }
  for (const more of operands.slice(spec.operands.length)) {
    faults.push(`${name} has an unexpected argument ${JSON.stringify(more)}.`)
  }
  for (const flag of spec.needed ?? []) {
    if (extra[flag] === undefined) faults.push(`${name} requires --${flag}.`)
  }
  if (!parsed.ok || faults.length > 0) return { ok: false, faults }
  return { ok: true, command: { name, config: parsed.config, operands, flags: extra } as Command }
}

/** Returns the command that a command line begins with; `start` if it begins with a flag. */
function nameOf(argv: readonly string[]): CommandName | undefined {
  const [first = '', second = ''] = argv
  if (first === '' || first.startsWith('-')) return 'start'
  return (Object.keys(COMMANDS) as CommandName[]).find(
    (name) => name === first || name === `${first} ${second}`,
  )
}

function unknown([first = '', second]: readonly string[]): string {
  const verbs = Object.keys(COMMANDS).flatMap((name) =>
    name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
  )
  if (verbs.length === 0) return `Unknown command ${first}. Run gatehouse --help for a list.`
  const given = second === undefined ? '' : `, not ${JSON.stringify(second)}`
  return `${first} must be followed by ${verbs.join(' or ')}${given}.`
}

/** Returns the text that `--help` prints. */
export function helpText(): string {
  const commands = Object.entries<Spec>(COMMANDS).map(([name, spec]) => {
    const flags = Object.entries(spec.flags).map(([flag, value]) => {
      const text = value === null ? `--${flag}` : `--${flag} ${value}`
      return spec.needed?.includes(flag) ? text : `[${text}]`
    })
    const call = ['gatehouse', name === 'start' ? '[start]' : name, ...spec.operands, ...flags]
    return `  ${call.join(' ')}\n      ${spec.help}`
  })
  const flags = SETTINGS.map(
    ({ flag, value, env, help }) => `  --${flag} ${value}\n      ${help}\n      ${env}`,
  )
  const variables = VARIABLES.map(({ env, help }) => `  ${env}\n      ${help}`)
  return `Gatehouse: a multi-database JSON server whose network endpoints can be changed while it runs.

Commands
${commands.join('\n')}
  gatehouse --help | --version

An address is tcp://host:port, ssl://host:port or unix:///path. All commands but start and
restore can run while nodes are running.

Flags and their environment variables (a flag overrides its variable)
${flags.join('\n')}

Variables without a flag. To read a key or secret from a file, set …_FILE to its path.
${variables.join('\n')}
`
}
