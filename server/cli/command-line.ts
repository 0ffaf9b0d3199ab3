import { type Config, parseConfig } from './config.ts'
import type { Environment } from './config-access.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

/** How a command is called, and what the help says of it. */
interface Spec {
  /** What follows its name, in order; each is needed. */
  readonly operands: readonly string[]
  /** Its own flags, besides those of the configuration: `null` for one without a value. */
  readonly flags: Readonly<Record<string, string | null>>
  /** Those of its flags that must be given. */
  readonly needed?: readonly string[]
  readonly help: string
}

/** Every command but `help` and `version`, by its words. */
const COMMANDS = {
  start: { operands: [], flags: {}, help: 'run a node; what runs without a command' },
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
    help: 'make an API token (viewer, operator or admin) and print it, alone',
  },
  'user role': {
    operands: ['USERNAME', 'ROLE'],
    flags: { issuer: 'URL' },
    help: 'give a person, such as github:583231, another role',
  },
  'operator-key': {
    operands: [],
    flags: { renew: null },
    help: 'print the operator key; with --renew a new one, which ends the sessions of the old',
  },
  'secrets discard': {
    operands: [],
    flags: {},
    help: 'delete the tokens of providers in the store, if the secret key that encrypts them is lost',
  },
  backup: {
    operands: ['FOLDER'],
    flags: {},
    help: 'back up the store and its keys into a new or an empty folder, beside running nodes',
  },
  restore: {
    operands: ['FOLDER'],
    flags: {},
    help: 'restore a backup into an empty data folder or database, while no node runs on it',
  },
  'audit verify': {
    operands: [],
    flags: { last: 'HASH' },
    help: 'check the audit log and print its last row, N:HASH; with --last it must hold that row',
  },
} as const satisfies Record<string, Spec>

/** The words of a command. */
export type CommandName = keyof typeof COMMANDS

/** A command with what it was given. */
export interface GivenCommand<Name extends CommandName> {
  readonly name: Name
  readonly config: Config
  /** As many as the command takes. */
  readonly operands: readonly string[]
  /** The command's own flags that were given; '' for one without a value. */
  readonly flags: Readonly<Record<string, string>>
}

/** A command that copies a whole store. */
export type BackupCommand = GivenCommand<'backup'> | GivenCommand<'restore'>

/** A command that works on the store, beside a running node. */
export type StoreCommand = GivenCommand<Exclude<CommandName, 'start' | 'backup' | 'restore'>>

/** What a command line asks for. */
export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | GivenCommand<'start'>
  | BackupCommand
  | StoreCommand

/** What {@link parseCommandLine} answers: the command, or a sentence for each fault. */
export type ParsedCommandLine =
  | { readonly ok: true; readonly command: Command }
  | { readonly ok: false; readonly faults: readonly string[] }

/**
 * Reads a command line, with the environment, into a {@link Command}; every fault at once.
 *
 * @param argv what follows the name of the program.
 * @param folder what relative paths start from.
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
    faults.push(`${name} needs ${missing}.`)
  }
  for (const more of operands.slice(spec.operands.length)) {
    faults.push(`${name} does not take ${JSON.stringify(more)}.`)
  }
  for (const flag of spec.needed ?? []) {
    if (extra[flag] === undefined) faults.push(`${name} needs --${flag}.`)
  }
  if (!parsed.ok || faults.length > 0) return { ok: false, faults }
  return { ok: true, command: { name, config: parsed.config, operands, flags: extra } as Command }
}

/** The command that a command line begins with; `start` where it begins with a flag. */
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
  if (verbs.length === 0) return `There is no command ${first}. gatehouse --help lists them.`
  const given = second === undefined ? '' : `, not ${JSON.stringify(second)}`
  return `${first} takes ${verbs.join(' or ')}${given}.`
}

/** What `--help` prints. */
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
  return `Gatehouse: a multi-database JSON server whose endpoints are added, mapped and removed while it runs.

Commands
${commands.join('\n')}
  gatehouse --help | --version

An address is tcp://host:port, ssl://host:port or unix:///path. All commands but start and
restore work on the store, beside a running node.

Flags, each with the variable that it wins over
${flags.join('\n')}

Variables without a flag. Each key and secret may also be in a file, which …_FILE names.
${variables.join('\n')}
`
}
