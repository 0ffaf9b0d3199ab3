import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, resolve } from 'node:path'
import * as z from 'zod/mini'
import { formatAddress, parseAddress } from '../contract/endpoints/address.ts'
import { invariant } from '../contract/invariant.ts'
import {
  type AccessConfig,
  type ConfiguredValue,
  type Environment,
  type KeyVariable,
  quoteText,
  readAccess,
  readSecret,
  splitList,
} from './config-access.ts'
import { findMisspelledVariables } from './misspelled-variables.ts'
import { LOG_LEVELS, type LogLevel, SETTINGS } from './settings.ts'

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
  /** The file of the access log, absolute; `-`: standard output; undefined: none is written. */
  readonly accessLog: string | undefined
}

/** The settings, or a message for each error. */
export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly errors: readonly string[] }

/** The settings that are given as flags, by the attribute names of the command line. */
const givenFlags = z.object({
  endpoint: z.optional(z.array(z.string())),
  data: z.optional(z.string()),
  databaseUrl: z.optional(z.string()),
  publicUrl: z.optional(z.string()),
  node: z.optional(z.string()),
  drain: z.optional(z.string()),
  readyDelay: z.optional(z.string()),
  tlsCert: z.optional(z.string()),
  tlsKey: z.optional(z.string()),
  log: z.optional(z.string()),
  accessLog: z.optional(z.string()),
})

/** Name of a setting with a single value. */
type SettingName = Exclude<keyof typeof givenFlags.shape, 'endpoint'>

const seconds = z.pipe(
  z
    .string()
    .check(z.regex(/^[0-9]{1,5}(?:\.[0-9]{1,3})?$/, 'must be a number of seconds, such as 30')),
  z.transform((text) => Number(text) * 1000),
)

const logLevel = z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` })

const publicOrigin = z.pipe(
  z
    .string()
    .check(
      z.refine(
        isOrigin,
        'must consist of scheme, host and port only, such as https://gatehouse.example.org',
      ),
    ),
  z.transform((text) => new URL(text).origin),
)

/** The values of `sslmode` in a database URL. The driver takes any other one for verify-full. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

const databaseUrl = z
  .string()
  .check(
    z.regex(/^postgres(?:ql)?:\/\//, 'must be a URL that begins with postgres://'),
    z.refine(
      hasKnownSslMode,
      `must have one of the values ${SSL_MODES.join(', ')} as its sslmode, or no sslmode`,
    ),
  )

/** The keys that a command requires with a database URL. */
const KEYS_OF_COMMANDS: Readonly<Record<string, readonly KeyVariable[]>> = {
  start: ['GATEHOUSE_OPERATOR_KEY', 'GATEHOUSE_SECRET_KEY'],
  'operator-key': ['GATEHOUSE_OPERATOR_KEY'],
}

/**
 * Parses flags and environment into a {@link Config}. Reports all errors at once. An empty variable
 * counts as unset.
 *
 * @param flags the settings of the command line, by attribute name.
 * @param folder the folder that relative paths are resolved against.
 * @param command commands other than `start` and `operator-key` need no keys.
 */
export function parseConfig(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
  folder: string,
  command = 'start',
): ParsedConfig {
  const errors = findMisspelledVariables(env)
  const given = givenFlags.parse(flags)

  const read = (name: SettingName): ConfiguredValue => {
    const { flag, variable } = sourcesOf(name)
    const text = given[name]
    if (text !== undefined) return { text, from: flag }
    return env[variable] ? { text: env[variable], from: variable } : undefined
  }
  const parse = <T>(name: SettingName, schema: z.ZodMiniType<T, string>, otherwise: T): T =>
    parseSetting(read(name), schema, errors) ?? otherwise

  // Its errors omit the value, which may contain a password.
  const url =
    given.databaseUrl === undefined
      ? readSecret('GATEHOUSE_DATABASE_URL', env, folder, errors)
      : read('databaseUrl')
  parseSetting(url, databaseUrl, errors, { secret: true })
  const requiredKeys = (url !== undefined && KEYS_OF_COMMANDS[command]) || []
  const tls = readTls(read('tlsCert'), read('tlsKey'), folder, errors)
  const config: Config = {
    endpoints: readEndpoints(given.endpoint, env, errors),
    data: resolve(folder, read('data')?.text ?? 'data'),
    databaseUrl: url?.text,
    publicOrigin: parse<string | undefined>('publicUrl', publicOrigin, undefined),
    node: read('node')?.text ?? hostname(),
    drain: parse('drain', seconds, 30_000),
    readyDelay: parse('readyDelay', seconds, 0),
    tls,
    keyFolders: [...(tls === undefined ? [] : [dirname(tls.key)]), ...secretFolders(env, folder)],
    log: parse('log', logLevel, 'info'),
    accessLog: toPath(read('accessLog')?.text, folder),
    ...readAccess(env, folder, requiredKeys, errors),
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, config: freeze(config) }
}

/** Returns the absolute path of an output; `-` stays. */
const toPath = (text: string | undefined, folder: string) =>
  text === undefined || text === '-' ? text : resolve(folder, text)

/** Returns the flag and the variable of a setting. */
function sourcesOf(name: SettingName): { flag: string; variable: string } {
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const setting = SETTINGS.find(({ flag }) => flag === kebab)
  invariant(setting, `--${kebab} is a setting`)
  return { flag: `--${setting.flag}`, variable: setting.env }
}

/**
 * Returns the value of a setting, or `undefined` if it is not set or wrong.
 *
 * @param secret leaves the value out of the error.
 */
function parseSetting<T>(
  given: ConfiguredValue,
  schema: z.ZodMiniType<T, string>,
  errors: string[],
  { secret = false } = {},
): T | undefined {
  if (given === undefined) return undefined
  const parsed = schema.safeParse(given.text)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const value = secret ? '' : `, not ${quoteText(given.text)}`
  errors.push(`${given.from} ${issue?.message}${value}.`)
  return undefined
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

function readEndpoints(
  flags: readonly string[] | undefined,
  env: Environment,
  errors: string[],
): string[] {
  const from = flags === undefined ? 'GATEHOUSE_ENDPOINTS' : '--endpoint'
  const texts = flags ?? splitList(env.GATEHOUSE_ENDPOINTS)
  const addresses = texts.flatMap((text) => {
    const parsed = parseAddress(text)
    if (parsed.ok) return [formatAddress(parsed.address)]
    errors.push(`${from} ${quoteText(text)}: ${parsed.message}`)
    return []
  })
  return [...new Set(addresses)]
}

/** Returns whether a URL has nothing but scheme, host and port. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
}

function hasKnownSslMode(databaseUrl: string): boolean {
  const modes = databaseUrl.matchAll(/[?&]sslmode=([^&]*)/g)
  return [...modes].every(([, mode = '']) => SSL_MODES.includes(mode))
}

function readTls(
  cert: ConfiguredValue,
  key: ConfiguredValue,
  folder: string,
  errors: string[],
): Config['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    const [present, missing] = cert === undefined ? [key, 'tls-cert'] : [cert, 'tls-key']
    errors.push(`${present?.from} requires --${missing}. Set both the certificate and its key.`)
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
      errors.push(`${from} cannot be read: ${(error as Error).message}.`)
    }
  }
  return files
}
