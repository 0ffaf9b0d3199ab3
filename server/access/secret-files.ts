import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Failure, systemCode } from '../failure.ts'
import { OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../storage/data-folder.ts'
import { createOperatorKey, hashSecret } from './secret-text.ts'

/** The operator key: whoever holds it is `local:operator`. */
export interface OperatorKey {
  /** As it is now; a renewal counts from the next reading. */
  read(): string
  /** Whether this call of {@link openOperatorKey} has made it. */
  readonly isNew: boolean
  /** Where it is found, for people; null: it comes from the environment. */
  readonly file: string | null
}

/** Of an operator key, what a session remembers, so that a renewal can end it. */
export const fingerprint = (key: string): string => hashSecret(`operator key ${key}`).slice(0, 16)

const operatorKeyFile = (data: string) => join(data, OPERATOR_KEY_FILE)

/**
 * Finds the operator key: the one given, else the one in the data folder, else a new one, kept there
 * for the owner of the process alone (mode 0600).
 *
 * @throws Failure `unavailable` where the file can be neither read nor made.
 */
export function openOperatorKey(data: string, given: string | undefined): OperatorKey {
  if (given !== undefined) return { read: () => given, isNew: false, file: null }
  const file = operatorKeyFile(data)
  const isNew = createOnce(data, file, createOperatorKey())
  return { read: () => readSecret(file), isNew, file }
}

/**
 * Puts a new operator key in the place of the one in the data folder and answers it. The sessions
 * that were made with the old one are the caller's to end.
 */
export function renewOperatorKey(data: string): string {
  const key = createOperatorKey()
  const file = operatorKeyFile(data)
  // Written beside and renamed, so that there is always one whole key.
  writeSecret(data, `${file}.new`, key)
  renameSync(`${file}.new`, file)
  return key
}

/**
 * Returns the key that secrets are encrypted with, 32 bytes: the given one, or the one in the data
 * folder. Undefined if there is neither.
 *
 * @throws Failure `unavailable`
 */
export function findSecretKey(data: string, given: Uint8Array | undefined): Uint8Array | undefined {
  if (given !== undefined) return given
  const file = join(data, SECRET_KEY_FILE)
  if (!existsSync(file)) return undefined
  const key = Buffer.from(readSecret(file), 'base64')
  if (key.length !== 32)
    throw new Failure('unavailable', `${file} does not hold a key of 32 bytes.`)
  return key
}

/**
 * Finds the key that secrets are encrypted with, 32 bytes: the one given, else the one in the data
 * folder, else a new one, kept there (mode 0600).
 *
 * @throws Failure `unavailable`
 */
export function openSecretKey(data: string, given: Uint8Array | undefined): Uint8Array {
  const found = findSecretKey(data, given)
  if (found !== undefined) return found
  createOnce(data, join(data, SECRET_KEY_FILE), randomBytes(32).toString('base64'))
  return openSecretKey(data, given)
}

/** Writes a secret where there is none; false: there was one. Safe against another doing the same. */
function createOnce(data: string, file: string, secret: string): boolean {
  const beside = `${file}.${unique()}`
  try {
    readFileSync(file)
    return false
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw unusable(file, error)
  }
  writeSecret(data, beside, secret)
  try {
    // A link fails where the file has come to be meanwhile; a rename would replace it.
    linkSync(beside, file)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw unusable(file, error)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Tells files apart that several processes make at once. */
const unique = () => randomBytes(6).toString('hex')

function writeSecret(data: string, file: string, secret: string): void {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    writeFileSync(file, `${secret}\n`, { mode: 0o600, flush: true })
    chmodSync(file, 0o600)
  } catch (error) {
    throw unusable(file, error)
  }
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw unusable(file, error)
  }
}

const unusable = (file: string, cause: unknown) =>
  new Failure('unavailable', `${file} cannot be used. (${systemCode(cause) ?? 'no code'})`, {
    cause,
  })
