import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type AccessConfig,
  type Environment,
  type Given,
  list,
  quoted,
  readAccess,
  readSecret,
} from './config-access.ts'
import { formatAddress, parseAddress } from './contract/address.ts'
import { LOG_LEVELS, type LogLevel, SETTINGS, type Setting } from './settings.ts'

/** Everything that a node is told when it is started. Frozen. */
export interface Config extends AccessConfig {
  /** Canonical addresses that were given; each is added where it is missing. */
  readonly endpoints: readonly string[]
  /** The data folder, absolute. */
  readonly data: string
  /** Undefined: SQLite in the data folder. */
  readonly databaseUrl: string | undefined
  /** Scheme, host and port under which people reach the server; undefined: as they ask for it. */
  readonly publicOrigin: string | undefined
  /** The name of this node. */
  readonly node: string
  /** How long what is removed or stopped may drain, ms. */
  readonly drain: number
  /** How long readiness is 503 before a stop stops accepting, ms. */
  readonly readyDelay: number
  /** Of `ssl://` endpoints; undefined: none can be opened. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** The folders of the TLS key and of every file that a variable ending in `_FILE` names. */
  readonly keyFolders: readonly string[]
  readonly log: LogLevel
}

/** What {@link parseConfig} answers: the settings, or a sentence for each that is wrong. */
export type ParsedConfig = (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] }
) & {
  /** The words that are no flags. */
  readonly words: readonly string[]
  /** The command's own flags that were given; '' for one without a value. */
  readonly extra: Readonly<Record<string, string>>
}

/** The command that a configuration is read for. */
export interface For {
  readonly command: string
  /** Its own flags, by name: `null` for one without a value. */
  readonly flags: Readonly<Record<string, string | null>>
}

/**
 * Reads flags and environment into a {@link Config}, reporting every fault of both at once. An empty
 * variable counts as not set. Words that are no flags are handed back for whoever knows commands.
 *
 * @param argv what follows the name of the program.
 * @param folder what relative paths start from.
 */
export function parseConfig(
  argv: readonly string[],
  env: Environment,
  folder: string,
  { command, flags: own }: For = { command: 'start', flags: {} },
): ParsedConfig {
  const faults: string[] = []
  const { flags, words } = readFlags(argv, own, faults)
  const extra = Object.fromEntries(
    Object.keys(own).flatMap((flag) => {
      const value = flags.get(flag)?.at(-1)
      return value === undefined ? [] : [[flag, value]]
    }),
  )

  /** The value of a setting, and how to call it in a sentence about it. */
  const read = (flag: string): Given => {
    const setting = SETTINGS.find((each) => each.flag === flag) as Setting
    const given = flags.get(flag)?.at(-1)
    if (given !== undefined) return { text: given, from: `--${flag}` }
    const text = env[setting.env]
    return text === undefined || text === '' ? undefined : { text, from: setting.env }
  }
  const seconds = (flag: string, otherwise: number): number => {
    const given = read(flag)
    if (given === undefined) return otherwise * 1000
    if (!/^[0-9]{1,5}(?:\.[0-9]{1,3})?$/.test(given.text)) {
      faults.push(`${given.from} takes seconds, such as 30; it is ${quoted(given.text)}.`)
    }
    return Number(given.text) * 1000
  }

  const databaseUrl = readDatabaseUrl(
    flags.has('database-url')
      ? read('database-url')
      : readSecret('GATEHOUSE_DATABASE_URL', env, folder, faults),
    faults,
  )
  // Commands beside a running node work on the store and need no keys.
  const runs = command === 'start'
  const tls = readTls(read('tls-cert'), read('tls-key'), folder, faults)
  const config: Config = {
    endpoints: readEndpoints(flags.get('endpoint'), env, faults),
    data: resolve(folder, read('data')?.text ?? 'data'),
    databaseUrl,
    publicOrigin: readPublicOrigin(read('public-url'), faults),
    node: read('node')?.text ?? hostname(),
    drain: seconds('drain', 30),
    readyDelay: seconds('ready-delay', 0),
    tls,
    keyFolders: [...(tls === undefined ? [] : [dirname(tls.key)]), ...secretFolders(env, folder)],
    log: readLevel(read('log'), faults),
    ...readAccess(env, folder, runs && databaseUrl !== undefined, faults),
  }
  const rest = { words, extra }
  return faults.length > 0
    ? { ok: false, faults, ...rest }
    : { ok: true, config: freeze(config), ...rest }
}

/** The folders of the files that hold secrets. */
const secretFolders = (env: Environment, folder: string): string[] =>
  Object.entries(env).flatMap(([name, file]) =>
    /^GATEHOUSE_[A-Z0-9_]+_FILE$/.test(name) && file ? [dirname(resolve(folder, file))] : [],
  )

function freeze(config: Config): Config {
  for (const value of Object.values(config)) if (Array.isArray(value)) Object.freeze(value)
  return Object.freeze(config)
}

function readFlags(argv: readonly string[], own: For['flags'], faults: string[]) {
  const valued = Object.keys(own).filter((flag) => own[flag] !== null)
  const bare = Object.keys(own).filter((flag) => own[flag] === null)
  const known = [...SETTINGS.map(({ flag }) => flag), ...valued]
  // A flag that another follows lacks its value; parseArgs would take the other one for it.
  const args = argv.map((word, at) => {
    const wants = word.startsWith('--') && known.includes(word.slice(2))
    return wants && argv[at + 1]?.startsWith('--') ? `${word}=` : word
  })
  const { tokens } = parseArgs({
    args,
    options: {
      ...Object.fromEntries(known.map((flag) => [flag, { type: 'string', multiple: true }])),
      ...Object.fromEntries(bare.map((flag) => [flag, { type: 'boolean' }])),
    },
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const flags = new Map<string, string[]>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    if (bare.includes(token.name)) {
      if (token.value !== undefined) faults.push(`--${token.name} takes no value.`)
      flags.set(token.name, [''])
    } else if (!known.includes(token.name)) {
      faults.push(`There is no flag ${token.rawName} here. gatehouse --help lists them.`)
    } else if (token.value === undefined || token.value === '') {
      faults.push(`--${token.name} needs a value.`)
    } else {
      flags.set(token.name, [...(flags.get(token.name) ?? []), token.value])
    }
  }
  return { flags, words }
}

function readEndpoints(flags: string[] | undefined, env: Environment, faults: string[]): string[] {
  const from = flags === undefined ? 'GATEHOUSE_ENDPOINTS' : '--endpoint'
  const texts = flags ?? list(env.GATEHOUSE_ENDPOINTS)
  const addresses = texts.flatMap((text) => {
    const parsed = parseAddress(text)
    if (parsed.ok) return [formatAddress(parsed.address)]
    faults.push(`${from} ${quoted(text)}: ${parsed.fault}`)
    return []
  })
  return [...new Set(addresses)]
}

function readDatabaseUrl(given: Given, faults: string[]): string | undefined {
  // The value is never shown: it may hold a password.
  if (given !== undefined && !/^postgres(?:ql)?:\/\//.test(given.text)) {
    faults.push(`${given.from} takes an URL that begins with postgres://.`)
  }
  return given?.text
}

function readPublicOrigin(given: Given, faults: string[]): string | undefined {
  if (given === undefined) return undefined
  const url = URL.canParse(given.text) ? new URL(given.text) : undefined
  const bare = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (url === undefined || !/^https?:$/.test(url.protocol) || !bare) {
    faults.push(
      `${given.from} takes scheme, host and port alone, such as https://gatehouse.example.org; ` +
        `it is ${quoted(given.text)}.`,
    )
    return undefined
  }
  return url.origin
}

function readTls(cert: Given, key: Given, folder: string, faults: string[]): Config['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? [key, 'tls-cert'] : [cert, 'tls-key']
    faults.push(`${given?.from} goes with --${missing}: a certificate needs its key.`)
    return undefined
  }
  const files = { cert: resolve(folder, cert.text), key: resolve(folder, key.text) }
  for (const [{ from }, file] of [
    [cert, files.cert],
    [key, files.key],
  ] as const) {
    try {
      readFileSync(file)
    } catch (error) {
      faults.push(`${from} cannot be read: ${(error as Error).message}.`)
    }
  }
  return files
}

function readLevel(given: Given, faults: string[]): LogLevel {
  const level = LOG_LEVELS.find((each) => each === (given?.text ?? 'info'))
  if (level === undefined) {
    faults.push(
      `${given?.from} takes ${LOG_LEVELS.join(', ')}; it is ${quoted(given?.text ?? '')}.`,
    )
  }
  return level ?? 'info'
}
