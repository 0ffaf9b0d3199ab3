import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isOperatorKey, OPERATOR_KEY_LENGTH } from '../access/secrets/secret-text.ts'
import type { AcmeConfig } from '../certificates/acme/orders.ts'
import { PROVIDER_KINDS } from '../contract/access/provider.ts'
import { isIpRange } from '../ip-ranges.ts'
import { type ProviderConfig, readProviders } from '../oauth2/providers/provider-config.ts'

/** The settings for access and sign-in. They are read from the environment only. */
export interface AccessConfig {
  /** The key for the local provider; undefined: the key in the data folder. */
  readonly operatorKey: string | undefined
  /** 32 bytes that encrypt stored third-party secrets; undefined: the key in the data folder. */
  readonly secretKey: Uint8Array | undefined
  /** Usernames (`<provider>:<id>`) of people who become admins at every sign-in. */
  readonly admins: readonly string[]
  /** Addresses and CIDR ranges of proxies whose forwarded headers are trusted. */
  readonly trustedProxies: readonly string[]
  /** Addresses and CIDR ranges that are not public, to which webhooks may send requests. */
  readonly webhookAllow: readonly string[]
  /** Sign-in providers besides the local one, in button order. */
  readonly providers: readonly ProviderConfig[]
  /** Undefined: no certificates are ordered. */
  readonly acme: AcmeConfig | undefined
}

/** The environment, in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A variable that gives a node one of its keys. */
export type KeyVariable = 'GATEHOUSE_OPERATOR_KEY' | 'GATEHOUSE_SECRET_KEY'

/** A configured value, and the name of its source for error messages. */
export type ConfiguredValue = { readonly text: string; readonly from: string } | undefined

/** Quotes a value for an error message, truncated to 80 characters. */
export const quoteText = (text: string): string => JSON.stringify(text.slice(0, 80))

/** Splits a comma-separated list, without empty items. */
export const splitList = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/**
 * Reads the keys, the providers, the admins and the trusted proxies.
 *
 * @param folder the folder that relative paths are resolved against.
 * @param required the variables of the keys that several nodes share, as far as the command needs
 * them. A single node would create them in its data folder.
 * @param errors receives a message for each error; none contains a secret.
 */
export function readAccess(
  env: Environment,
  folder: string,
  required: readonly KeyVariable[],
  errors: string[],
): AccessConfig {
  const variable = (name: string): string | undefined => env[name] || undefined
  const secret = (name: string): ConfiguredValue => readSecret(name, env, folder, errors)

  const operatorKey = secret('GATEHOUSE_OPERATOR_KEY')
  const secretKey = secret('GATEHOUSE_SECRET_KEY')
  const given = { GATEHOUSE_OPERATOR_KEY: operatorKey, GATEHOUSE_SECRET_KEY: secretKey }
  for (const name of required) {
    if (given[name] !== undefined) continue
    errors.push(`${name} is missing. With a database URL, set it to the same value on all nodes.`)
  }
  return {
    operatorKey: readOperatorKey(operatorKey, errors),
    secretKey: readSecretKey(secretKey, errors),
    admins: readAdmins(variable('GATEHOUSE_ADMINS'), errors),
    trustedProxies: readRanges('GATEHOUSE_TRUSTED_PROXIES', env, errors),
    webhookAllow: readRanges('GATEHOUSE_WEBHOOK_ALLOW', env, errors),
    providers: readProviders(
      Object.assign(variable, { secret: (name: string) => secret(name)?.text }),
      errors,
    ),
    acme: readAcme(variable, errors),
  }
}

function readAcme(
  variable: (name: string) => string | undefined,
  errors: string[],
): AcmeConfig | undefined {
  const names = ['DIRECTORY', 'CONTACT', 'TERMS', 'HTTP_PORT'] as const
  const [directory, contact, terms, port = '80'] = names.map((each) =>
    variable(`GATEHOUSE_ACME_${each}`),
  )
  const report = (name: (typeof names)[number], rule: string, text: string) =>
    errors.push(`GATEHOUSE_ACME_${name} must be ${rule}, not ${quoteText(text)}.`)
  if (directory !== undefined && URL.parse(directory)?.protocol !== 'https:') {
    report('DIRECTORY', 'an https URL', directory)
  }
  if (contact !== undefined && !/^[^\s@,?]+@[^\s@,?]+$/.test(contact)) {
    report('CONTACT', 'an email address', contact)
  }
  if (terms !== undefined && terms !== 'agreed') report('TERMS', '"agreed"', terms)
  const httpPort = /^[0-9]{1,5}$/.test(port) ? Number(port) : 0
  if (httpPort < 1 || httpPort > 65_535) report('HTTP_PORT', 'a port', port)
  if (directory === undefined) return undefined
  return { directory, contact, agreed: terms === 'agreed', httpPort }
}

/**
 * Reads a variable, or the file that `<name>_FILE` names. White space around a file's content is
 * trimmed.
 */
export function readSecret(
  name: string,
  env: Environment,
  folder: string,
  errors: string[],
): ConfiguredValue {
  const text = env[name]
  if (text !== undefined && text !== '') return { text, from: name }
  const from = `${name}_FILE`
  const file = env[from]
  if (file === undefined || file === '') return undefined
  try {
    const content = readFileSync(resolve(folder, file), 'utf8').trim()
    if (content !== '') return { text: content, from }
    errors.push(`${from} names an empty file.`)
  } catch (error) {
    errors.push(`${from} cannot be read: ${(error as Error).message}.`)
  }
  return undefined
}

function readOperatorKey(given: ConfiguredValue, errors: string[]): string | undefined {
  if (given !== undefined && !isOperatorKey(given.text)) {
    errors.push(
      `${given.from} must have at least ${OPERATOR_KEY_LENGTH} characters and no white space.`,
    )
  }
  return given?.text
}

function readSecretKey(given: ConfiguredValue, errors: string[]): Uint8Array | undefined {
  if (given === undefined) return undefined
  if (!/^[A-Za-z0-9+/]{43}=$/.test(given.text)) {
    errors.push(
      `${given.from} must be 32 bytes in base64, such as the output of "openssl rand -base64 32".`,
    )
  }
  return new Uint8Array(Buffer.from(given.text, 'base64'))
}

function readAdmins(text: string | undefined, errors: string[]): readonly string[] {
  const names = splitList(text)
  const pattern = new RegExp(`^(?:${PROVIDER_KINDS.join('|')}):[^\\s]+$`)
  for (const name of names.filter((each) => !pattern.test(each))) {
    errors.push(
      `GATEHOUSE_ADMINS must be a comma-separated list of <provider>:<id>, such as github:583231. ` +
        `Invalid entry: ${quoteText(name)}. The providers are ${PROVIDER_KINDS.join(', ')}.`,
    )
  }
  return names
}

function readRanges(name: string, env: Environment, errors: string[]): readonly string[] {
  const ranges = splitList(env[name])
  const bad = ranges.find((range) => !isIpRange(range))
  if (bad !== undefined) {
    errors.push(
      `${name} must be a comma-separated list of addresses and ranges, such as ` +
        `10.0.0.0/8. Invalid entry: ${quoteText(bad)}.`,
    )
  }
  return ranges
}
