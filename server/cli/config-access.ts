import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { badProxy } from './http/client.ts'
import { PROVIDER_NAMES, type ProviderConfig, readProviders } from './oauth2/provider-config.ts'

/** The part of the settings that says who may come in. Only the environment gives it. */
export interface AccessConfig {
  /** What the local provider asks for; undefined: the one in the data folder. */
  readonly operatorKey: string | undefined
  /** 32 bytes that encrypt what is kept of others' secrets; undefined: those in the data folder. */
  readonly secretKey: Uint8Array | undefined
  /** Usernames (`<provider>:<id>`) of people who are admins from their first sign-in on. */
  readonly admins: readonly string[]
  /** Addresses and CIDR ranges of proxies whose forwarded headers count. */
  readonly trustedProxies: readonly string[]
  /** The providers to sign in with, beside the local one, in the order of the buttons. */
  readonly providers: readonly ProviderConfig[]
}

/** The environment, as `process.env` holds it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A value that was given, and how to call it in a sentence about it. */
export type Given = { readonly text: string; readonly from: string } | undefined

/** What was given, as a fault repeats it. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 80))

/** The parts of a text that has commas between them. */
export const list = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/**
 * Reads the keys, the providers and whom to trust.
 *
 * @param folder what relative paths start from.
 * @param shared whether several nodes may use the store: then the keys have to be given.
 * @param faults a sentence is added for each that is wrong; none repeats a secret.
 */
export function readAccess(
  env: Environment,
  folder: string,
  shared: boolean,
  faults: string[],
): AccessConfig {
  const variable = (name: string): string | undefined => env[name] || undefined
  const secret = (name: string): Given => readSecret(name, env, folder, faults)

  const operatorKey = secret('GATEHOUSE_OPERATOR_KEY')
  const secretKey = secret('GATEHOUSE_SECRET_KEY')
  if (shared) requireShared({ operatorKey, secretKey }, faults)
  return {
    operatorKey: readOperatorKey(operatorKey, faults),
    secretKey: readSecretKey(secretKey, faults),
    admins: readAdmins(variable('GATEHOUSE_ADMINS'), faults),
    trustedProxies: readProxies(variable('GATEHOUSE_TRUSTED_PROXIES'), faults),
    providers: readProviders(
      Object.assign(variable, { secret: (name: string) => secret(name)?.text }),
      faults,
    ),
  }
}

/** Reads a variable that may also be in a file, named by `<name>_FILE`; white space around is dropped. */
export function readSecret(
  name: string,
  env: Environment,
  folder: string,
  faults: string[],
): Given {
  const text = env[name]
  if (text !== undefined && text !== '') return { text, from: name }
  const from = `${name}_FILE`
  const file = env[from]
  if (file === undefined || file === '') return undefined
  try {
    const content = readFileSync(resolve(folder, file), 'utf8').trim()
    if (content !== '') return { text: content, from }
    faults.push(`${from} names an empty file.`)
  } catch (error) {
    faults.push(`${from} cannot be read: ${(error as Error).message}.`)
  }
  return undefined
}

/** What one node makes for itself in its data folder, several that share a store must be given. */
function requireShared(given: { operatorKey: Given; secretKey: Given }, faults: string[]): void {
  for (const [value, name] of [
    [given.operatorKey, 'GATEHOUSE_OPERATOR_KEY'],
    [given.secretKey, 'GATEHOUSE_SECRET_KEY'],
  ] as const) {
    if (value === undefined) {
      faults.push(`${name} is missing: with a database URL all nodes have to be given the same.`)
    }
  }
}

/** The minimum length of an operator key, in characters. */
const OPERATOR_KEY_LENGTH = 32

function readOperatorKey(given: Given, faults: string[]): string | undefined {
  if (given !== undefined && (given.text.length < OPERATOR_KEY_LENGTH || /\s/.test(given.text))) {
    faults.push(
      `${given.from} must have at least ${OPERATOR_KEY_LENGTH} characters and no white space.`,
    )
  }
  return given?.text
}

function readSecretKey(given: Given, faults: string[]): Uint8Array | undefined {
  if (given === undefined) return undefined
  if (!/^[A-Za-z0-9+/]{43}=$/.test(given.text)) {
    faults.push(`${given.from} takes 32 bytes in base64, as "openssl rand -base64 32" prints them.`)
  }
  return new Uint8Array(Buffer.from(given.text, 'base64'))
}

function readAdmins(text: string | undefined, faults: string[]): readonly string[] {
  const names = list(text)
  const known = new RegExp(`^(?:${PROVIDER_NAMES.join('|')}):[^\\s]+$`)
  for (const name of names.filter((each) => !known.test(each))) {
    faults.push(
      `GATEHOUSE_ADMINS takes <provider>:<id>, such as github:583231, with commas between them; ` +
        `${quoted(name)} is none. The providers are ${PROVIDER_NAMES.join(', ')}.`,
    )
  }
  return names
}

function readProxies(text: string | undefined, faults: string[]): readonly string[] {
  const ranges = list(text)
  const bad = badProxy(ranges)
  if (bad !== undefined) {
    faults.push(
      `GATEHOUSE_TRUSTED_PROXIES takes addresses and ranges, such as 10.0.0.0/8, with commas ` +
        `between them; ${quoted(bad)} is none.`,
    )
  }
  return ranges
}
