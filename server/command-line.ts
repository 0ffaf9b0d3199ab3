import { type Config, parseConfig } from './config.ts'
import type { Environment } from './config-access.ts'
import { SETTINGS, VARIABLES } from './settings.ts'

/** What a command line asks for. */
export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  | { readonly name: 'start'; readonly config: Config }
  | { readonly name: 'endpoint list'; readonly config: Config }
  | {
      readonly name: 'endpoint add'
      readonly config: Config
      readonly address: string
      readonly databases: readonly string[]
    }
  | { readonly name: 'endpoint remove'; readonly config: Config; readonly address: string }

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

  const adds = argv[0] === 'endpoint' && argv[1] === 'add'
  const { rest, databases } = adds ? takeDatabases(argv) : { rest: argv, databases: [] }
  const parsed = parseConfig(rest, env, folder)
  if (!parsed.ok) return parsed
  const { config, words } = parsed
  const [noun = 'start', verb, address, ...more] = words
  const fault = (text: string): ParsedCommandLine => ({ ok: false, faults: [text] })

  if (noun === 'start') {
    if (verb !== undefined) return fault(`start takes flags alone; ${verb} is none.`)
    return { ok: true, command: { name: 'start', config } }
  }
  if (noun !== 'endpoint') return fault(`There is no command ${noun}. gatehouse --help lists them.`)
  if (more.length > 0) return fault(`endpoint ${verb} takes one address; ${more[0]} is too much.`)
  if (verb === 'list' && address === undefined) {
    return { ok: true, command: { name: 'endpoint list', config } }
  }
  if (verb !== 'add' && verb !== 'remove') {
    return fault('endpoint takes list, add ADDRESS or remove ADDRESS.')
  }
  if (address === undefined) return fault(`endpoint ${verb} needs an address.`)
  return verb === 'add'
    ? { ok: true, command: { name: 'endpoint add', config, address, databases } }
    : { ok: true, command: { name: 'endpoint remove', config, address } }
}

/** Takes `--databases a,b` out of a command line. */
function takeDatabases(argv: readonly string[]) {
  const rest: string[] = []
  const databases: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string
    const list = word === '--databases' ? (argv[++at] ?? '') : word.match(/^--databases=(.*)$/)?.[1]
    if (list === undefined) rest.push(word)
    else databases.push(...list.split(',').filter((name) => name !== ''))
  }
  return { rest, databases }
}

/** What `--help` prints. */
export function helpText(): string {
  const flags = SETTINGS.map(
    ({ flag, value, env, help }) => `  --${flag} ${value}\n      ${help}\n      ${env}`,
  )
  const variables = VARIABLES.map(({ env, help }) => `  ${env}\n      ${help}`)
  return `Gatehouse: a multi-database JSON server whose endpoints are added, mapped and removed while it runs.

Usage
  gatehouse [start] [flags]                        run a node
  gatehouse endpoint list                          list the stored endpoints
  gatehouse endpoint add ADDRESS [--databases a,b] store an endpoint; a running node opens it
  gatehouse endpoint remove ADDRESS                remove one; a running node closes it
  gatehouse --help | --version

An address is tcp://host:port, ssl://host:port or unix:///path. The endpoint commands work on the
store, beside a running node.

Flags, each with the variable that it wins over
${flags.join('\n')}

Variables without a flag. Each key and secret may also be in a file, which …_FILE names.
${variables.join('\n')}
`
}
