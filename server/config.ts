import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { formatAddress, parseAddress } from './contract/address.ts'

/** The levels of the log, most to least. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const

/** {@link LOG_LEVELS} as a type. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The endpoint of a server that has none stored and is given none. */
export const DEFAULT_ENDPOINT = 'tcp://127.0.0.1:8529'

/** Everything that a node is told when it is started. Frozen. */
export interface Config {
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
  readonly log: LogLevel
}

/** What {@link parseConfig} answers: the settings, or a sentence for each that is wrong. */
export type ParsedConfig =
  | { readonly ok: true; readonly config: Config; readonly words: readonly string[] }
  | { readonly ok: false; readonly faults: readonly string[] }

/** A setting as the help shows it. A flag wins over the environment. */
export interface Setting {
  readonly flag: string
  readonly value: string
  readonly env: string
  readonly help: string
}

/** Every setting, in the order of the help. */
export const SETTINGS: readonly Setting[] = [
  {
    flag: 'endpoint',
    value: 'ADDRESS',
    env: 'GATEHOUSE_ENDPOINTS',
    help: `an endpoint to add if it is missing; repeatable, commas in the environment (${DEFAULT_ENDPOINT} where none is stored)`,
  },
  { flag: 'data', value: 'FOLDER', env: 'GATEHOUSE_DATA', help: 'the data folder (./data)' },
  {
    flag: 'database-url',
    value: 'URL',
    env: 'GATEHOUSE_DATABASE_URL',
    help: 'a PostgreSQL (SQLite in the data folder); …_FILE names a file that holds it',
  },
  {
    flag: 'public-url',
    value: 'URL',
    env: 'GATEHOUSE_PUBLIC_URL',
    help: 'where people reach this server, such as https://gatehouse.example.org',
  },
  { flag: 'node', value: 'NAME', env: 'GATEHOUSE_NODE', help: "this node's name (the host's)" },
  {
    flag: 'drain',
    value: 'SECONDS',
    env: 'GATEHOUSE_DRAIN',
    help: 'how long connections may finish when their endpoint goes (30)',
  },
  {
    flag: 'ready-delay',
    value: 'SECONDS',
    env: 'GATEHOUSE_READY_DELAY',
    help: 'how long health is 503 before a stop begins to drain (0)',
  },
  {
    flag: 'tls-cert',
    value: 'FILE',
    env: 'GATEHOUSE_TLS_CERT',
    help: 'certificate chain of ssl:// endpoints, PEM',
  },
  { flag: 'tls-key', value: 'FILE', env: 'GATEHOUSE_TLS_KEY', help: 'its key, PEM' },
  {
    flag: 'log',
    value: 'LEVEL',
    env: 'GATEHOUSE_LOG',
    help: `${LOG_LEVELS.join(', ')} (info)`,
  },
]

/** The environment, as `process.env` holds it. */
export type Environment = Readonly<Record<string, string | undefined>>

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
  extraFlags: readonly string[] = [],
): ParsedConfig {
  const faults: string[] = []
  const { flags, words } = readFlags(argv, extraFlags, faults)

  /** The value of a setting, and how to call it in a sentence about it. */
  const read = (flag: string): { text: string; from: string } | undefined => {
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

  const config: Config = {
    endpoints: readEndpoints(flags.get('endpoint'), env, faults),
    data: resolve(folder, read('data')?.text ?? 'data'),
    databaseUrl: readDatabaseUrl(read('database-url'), env, faults),
    publicOrigin: readPublicOrigin(read('public-url'), faults),
    node: read('node')?.text ?? hostname(),
    drain: seconds('drain', 30),
    readyDelay: seconds('ready-delay', 0),
    tls: readTls(read('tls-cert'), read('tls-key'), folder, faults),
    log: readLevel(read('log'), faults),
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, config: freeze(config), words }
}

type Given = { text: string; from: string } | undefined

const quoted = (text: string) => JSON.stringify(text.slice(0, 80))

const freeze = (config: Config): Config =>
  Object.freeze({ ...config, endpoints: Object.freeze(config.endpoints) })

function readFlags(argv: readonly string[], extra: readonly string[], faults: string[]) {
  const known = [...SETTINGS.map(({ flag }) => flag), ...extra]
  // A flag that another follows lacks its value; parseArgs would take the other one for it.
  const args = argv.map((word, at) => {
    const bare = word.startsWith('--') && known.includes(word.slice(2))
    return bare && argv[at + 1]?.startsWith('--') ? `${word}=` : word
  })
  const { tokens } = parseArgs({
    args,
    options: Object.fromEntries(known.map((flag) => [flag, { type: 'string', multiple: true }])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const flags = new Map<string, string[]>()
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    if (!known.includes(token.name)) {
      faults.push(`There is no flag ${token.rawName}. gatehouse --help lists them.`)
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
  const texts = flags ?? (env.GATEHOUSE_ENDPOINTS ?? '').split(',').map((text) => text.trim())
  const addresses = texts.flatMap((text) => {
    if (text === '') return []
    const parsed = parseAddress(text)
    if (parsed.ok) return [formatAddress(parsed.address)]
    faults.push(`${from} ${quoted(text)}: ${parsed.fault}`)
    return []
  })
  return [...new Set(addresses)]
}

function readDatabaseUrl(given: Given, env: Environment, faults: string[]): string | undefined {
  const file = env.GATEHOUSE_DATABASE_URL_FILE
  let text = given?.text
  let from = given?.from ?? ''
  if (text === undefined && file !== undefined && file !== '') {
    from = 'GATEHOUSE_DATABASE_URL_FILE'
    try {
      text = readFileSync(file, 'utf8').trim()
    } catch (error) {
      faults.push(`${from} cannot be read: ${(error as Error).message}.`)
      return undefined
    }
  }
  // The value is never shown: it may hold a password.
  if (text !== undefined && !/^postgres(?:ql)?:\/\//.test(text)) {
    faults.push(`${from} takes an URL that begins with postgres://.`)
  }
  return text
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
