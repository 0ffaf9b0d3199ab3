import { Argument, Command, type Help, InvalidArgumentError, Option } from 'commander'
import { SETTINGS, VARIABLES } from './settings.ts'

/** A command of the command line, as given. */
export interface Invocation {
  /** The words of the command, such as `endpoint add`. */
  readonly name: string
  /** One for each argument of the command, in order. */
  readonly operands: readonly string[]
  /** The command's own options that were given, by attribute name. */
  readonly options: Readonly<Record<string, unknown>>
  /** The settings that were given as flags, by attribute name. */
  readonly settings: Readonly<Record<string, unknown>>
}

/**
 * Returns the command line of Gatehouse. Its commands are loaded by `run`, so that help and version
 * do not wait for them.
 *
 * @param run carries out a command.
 */
export function createProgram(
  version: string,
  run: (invocation: Invocation) => Promise<void>,
): Command {
  const carryOut = (name: string) =>
    async function (this: Command): Promise<void> {
      await run({ name, operands: this.args, options: this.opts(), settings: program.opts() })
    }
  const add = (parent: Command, name: string, description: string, operands: string[] = []) => {
    const words = parent === program ? name : `${parent.name()} ${name}`
    const command = parent.command(name).description(description).action(carryOut(words))
    command.allowExcessArguments(false)
    for (const operand of operands) command.addArgument(new Argument(`<${operand}>`))
    return command
  }

  const program = new Command('gatehouse')
    .exitOverride()
    .description(
      'Gatehouse: a multi-database JSON server whose network endpoints can be changed while it runs.',
    )
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(true)
    .showHelpAfterError('Run gatehouse --help for a list.')
    .configureHelp({
      showGlobalOptions: true,
      visibleCommands: leafCommands,
      subcommandTerm: commandPath,
      formatItem,
    })
    .addHelpText('after', helpOfVariables)
    // Without a command, the program starts a node. A word here is an unknown command.
    .allowExcessArguments()
    .action(async function (this: Command) {
      const [word] = this.args
      if (word !== undefined) this.error(`error: unknown command '${word}'`)
      await carryOut('start').call(program)
    })
  for (const { flag, value, env, help } of SETTINGS) {
    const option = valueOption(`--${flag} <${value}>`, `${help} (${env})`)
    program.addOption(flag === 'endpoint' ? option.argParser(collectValues) : option)
  }

  add(program, 'start', 'start a node (default command)')
  add(program, 'demo', 'run a node with sample data and clients, which leaves nothing behind')
  add(program, 'health', 'check whether the node on the data folder is ready; exits with 1 if not')

  const endpoint = program.command('endpoint').description('manage the stored endpoints')
  add(endpoint, 'list', 'list the stored endpoints')
  add(endpoint, 'add', 'store an endpoint; a running node opens it', ['ADDRESS']).addOption(
    valueOption('--databases <a,b>', 'names of the databases that it serves (default: all)'),
  )
  add(endpoint, 'remove', 'remove an endpoint; a running node closes it', ['ADDRESS'])

  const token = program.command('token').description('manage API tokens')
  add(token, 'create', 'create an API token, and print only the token')
    .addOption(valueOption('--name <NAME>', 'name of the token').makeOptionMandatory())
    .addOption(
      valueOption('--role <ROLE>', 'viewer, editor, operator or admin').makeOptionMandatory(),
    )
    .addOption(valueOption('--databases <a,b>', 'names of its databases (default: all)'))
    .addOption(valueOption('--expires <30d>', 'lifetime (default: unlimited)'))

  const user = program.command('user').description('manage people')
  add(
    user,
    'role',
    'change the role of a person, such as github:583231, to none (no access), pending, viewer, editor, operator or admin',
    ['USERNAME', 'ROLE'],
  )
    .addOption(valueOption('--databases <a,b>', 'limit the role to databases; * lifts the limit'))
    .addOption(valueOption('--issuer <URL>', 'required if several issuers have the username'))

  add(program, 'operator-key', 'print the operator key').option(
    '--renew',
    'replace it and end the sessions started with the old key',
  )

  const secrets = program.command('secrets').description('manage stored secrets')
  add(
    secrets,
    'discard',
    'delete the stored provider tokens, managed providers and secrets of webhooks, if the secret key that encrypts them is lost',
  )

  add(
    program,
    'backup',
    'write a backup of the database and its keys to a new or empty folder; nodes can keep running',
    ['FOLDER'],
  )
  add(
    program,
    'restore',
    'restore a backup into an empty data folder or database; no node may be running on it',
    ['FOLDER'],
  )

  const audit = program.command('audit').description('check the audit log')
  add(audit, 'verify', 'verify the audit log and print its last row as N:HASH').addOption(
    valueOption('--last <HASH>', 'a row that the log must contain'),
  )
  return program
}

/** Returns an option whose value is required. */
const valueOption = (flags: string, description: string): Option =>
  new Option(flags, description).argParser(requireValue)

/** Rejects a missing value, for which Commander would take the flag that follows. */
function requireValue(value: string): string {
  if (value === '' || value.startsWith('--')) throw new InvalidArgumentError('Enter a value.')
  return value
}

const collectValues = (value: string, earlier: readonly string[] = []): string[] => [
  ...earlier,
  requireValue(value),
]

/** Returns the commands below a command that have no commands of their own. */
export const leafCommands = (command: Command): Command[] =>
  command.commands.flatMap((child) => (child.commands.length === 0 ? [child] : leafCommands(child)))

/** Returns how a command is called, such as `endpoint add ADDRESS [--databases a,b]`. */
export function commandPath(command: Command): string {
  const words: string[] = []
  for (let each = command; each.parent !== null; each = each.parent) words.unshift(each.name())
  words.push(...command.registeredArguments.map((argument) => argument.name()))
  for (const { flags, mandatory } of command.options) {
    const text = flags.replace(/[<>]/g, '')
    words.push(mandatory ? text : `[${text}]`)
  }
  return words.join(' ')
}

/** Returns an item of the help: a term, and its description on the next lines. */
function formatItem(term: string, _termWidth: number, description: string, help: Help): string {
  const lines = help.boxWrap(description, (help.helpWidth ?? 80) - 6)
  return `  ${term}\n      ${lines.replaceAll('\n', '\n      ')}`
}

function helpOfVariables({ command }: { command: Command }): string {
  if (command.parent !== null) return ''
  const variables = VARIABLES.map(({ env, help }) => `  ${env}\n      ${help}`)
  return `
An address is tcp://host:port, ssl://host:port or unix:///path. All commands but start and
restore can run while nodes are running. A flag overrides its variable.

Variables without a flag. To read a key or secret from a file, set …_FILE to its path.
${variables.join('\n')}`
}
