import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { formatAddress, parseAddress } from '../contract/endpoints/address.ts'
import {
  type AccessConfig,
  type Environment,
  type Given,
  list,
  quoted,
  readAccess,
  readSecret,
} from './config-access.ts'
import { LOG_LEVELS, type LogLevel, SETTINGS, type Setting } from './settings.ts'

/** The configuration of a node. Frozen. */
export interface Config extends AccessConfig {
  /** Canonical addresses of configured endpoints; missing ones are added at the start. */
  readonly endpoints: readonly string[]
  /** The data folder, absolute. */
  readonly data: string
  /** Undefined: SQLite in the data folder. */
  readonly databaseUrl: string | undefined
  /** Scheme, host and port of the public URL; undefined: taken from each request. */
  readonly publicOrigin: string | undefined
  /** The name of this node. */
  readonly node: string
  /** How long removed or stopped endpoints may drain, ms. */
  readonly drain: number
  /** How long readiness is 503 before a stopping node stops accepting, ms. */
  readonly readyDelay: number
  /** Certificate files of `ssl://` endpoints; undefined: no such endpoint can be opened. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  /** The folders of the TLS key and of every file that a variable ending in `_FILE` names. */
  readonly keyFolders: readonly string[]
  readonly log: LogLevel
}

/** The settings, or a message for each error. */
export type ParsedConfig = (
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] }
) & {
  /** The arguments that are not flags. */
  readonly words: readonly string[]
  /** The command's own flags that were given; '' for a flag without a value. */
  readonly extra: Readonly<Record<string, string>>
}

/** The command that a configuration is parsed for. */
export interface For {
  readonly command: string
  /** Its own flags, by name; `null` for a flag without a value. */
  readonly flags: Readonly<Record<string, string | null>>
}

/**
 * Parses flags and environment into a {@link Config}. Reports all errors at once. An empty variable
 * counts as unset. Arguments that are not flags are returned for the command-line parser.
 *
 * @param argv the arguments after the program name.
 * @param folder the folder that relative paths are resolved against.
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

  /** Returns the value of a setting and the name of its source. */
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
      faults.push(
        `${given.from} must be a number of seconds, such as 30, not ${quoted(given.text)}.`,
      )
    }
    return Number(given.text) * 1000
  }

  const databaseUrl = readDatabaseUrl(
    flags.has('database-url')
      ? read('database-url')
      : readSecret('GATEHOUSE_DATABASE_URL', env, folder, faults),
    faults,
  )
  // Only `start` requires keys: other commands only work on the store.
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

/** Returns the folders of the files that contain secrets. */
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
  // parseArgs would take a following flag for the missing value of this one.
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
      if (token.value !== undefined) faults.push(`--${token.name} does not take a value.`)
      flags.set(token.name, [''])
    } else if (!known.includes(token.name)) {
      faults.push(
        `Unknown flag ${token.rawName} for this command. Run gatehouse --help for a list.`,
      )
    } else if (token.value === undefined || token.value === '') {
      faults.push(`--${token.name} requires a value.`)
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
  // The message omits the value, which may contain a password.
  if (given !== undefined && !/^postgres(?:ql)?:\/\//.test(given.text)) {
    faults.push(`${given.from} must be a URL that begins with postgres://.`)
  }
  return given?.text
}

function readPublicOrigin(given: Given, faults: string[]): string | undefined {
  if (given === undefined) return undefined
  const url = URL.canParse(given.text) ? new URL(given.text) : undefined
  const bare = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (url === undefined || !/^https?:$/.test(url.protocol) || !bare) {
    faults.push(
      `${given.from} must consist of scheme, host and port only, such as https://gatehouse.example.org, ` +
        `not ${quoted(given.text)}.`,
    )
    return undefined
  }
  return url.origin
}

function readTls(cert: Given, key: Given, folder: string, faults: string[]): Config['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? [key, 'tls-cert'] : [cert, 'tls-key']
    faults.push(`${given?.from} requires --${missing}. Set both the certificate and its key.`)
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
      `${given?.from} must be one of ${LOG_LEVELS.join(', ')}, not ${quoted(given?.text ?? '')}.`,
    )
  }
  return level ?? 'info'
}
