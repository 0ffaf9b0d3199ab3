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
import { Failure, systemCode } from '../../failure.ts'
import { hashSecret } from '../../secret.ts'
import { OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../../storage/data-folder.ts'
import { createOperatorKey, isOperatorKey, OPERATOR_KEY_LENGTH } from './secret-text.ts'

/** The operator key. A person who has it can sign in as `local:operator`. */
export interface OperatorKey {
  /** Returns the current key. A renewed key is returned from the next call on. */
  read(): string
  /** Whether {@link openOperatorKey} created the key in this call. */
  readonly isNew: boolean
  /** Path of the file, to show to people; null if the key comes from the environment. */
  readonly file: string | null
}

/**
 * Returns the fingerprint of an operator key. Sessions store it, so that a renewal can end them.
 */
export const fingerprint = (key: string): string => hashSecret(`operator key ${key}`).slice(0, 16)

const operatorKeyFile = (data: string) => join(data, OPERATOR_KEY_FILE)

/**
 * Opens the operator key: the given one, or else the one in the data folder. Creates one there if
 * the folder has none, readable by the process owner only (mode 0600).
 *
 * @throws Failure `unavailable` if the file can be neither read nor created, or contains no key.
 */
export function openOperatorKey(data: string, given: string | undefined): OperatorKey {
  if (given !== undefined) return { read: () => given, isNew: false, file: null }
  const file = operatorKeyFile(data)
  const isNew = createOnce(data, file, createOperatorKey())
  readOperatorKey(file)
  return { read: () => readOperatorKey(file), isNew, file }
}

/** Rejects a file that is empty or incomplete, whose key would be easy to guess. */
function readOperatorKey(file: string): string {
  const key = readSecret(file)
  if (isOperatorKey(key)) return key
  throw new Failure(
    'unavailable',
    `${file} does not contain an operator key of at least ${OPERATOR_KEY_LENGTH} characters. ` +
      'Restore it, or run "gatehouse operator-key --renew" to replace it.',
  )
}

/**
 * Replaces the operator key in the data folder and returns the new one. The caller must end the
 * sessions that were created with the old key.
 */
export function renewOperatorKey(data: string): string {
  const key = createOperatorKey()
  const file = operatorKeyFile(data)
  // Rename the file into place, so that a reader never sees a partial key.
  writeSecret(data, `${file}.new`, key)
  renameSync(`${file}.new`, file)
  return key
}

/**
 * Returns the key that encrypts secrets, 32 bytes: the given one, or else the one in the data
 * folder. Returns undefined if there is neither.
 *
 * @throws Failure `unavailable`
 */
export function findSecretKey(data: string, given: Uint8Array | undefined): Uint8Array | undefined {
  if (given !== undefined) return given
  const file = join(data, SECRET_KEY_FILE)
  if (!existsSync(file)) return undefined
  const key = Buffer.from(readSecret(file), 'base64')
  if (key.length !== 32) throw new Failure('unavailable', `${file} does not contain a 32-byte key.`)
  return key
}

/**
 * Opens the key that encrypts secrets, 32 bytes: the given one, or else the one in the data folder.
 * Creates one there if the folder has none (mode 0600).
 *
 * @throws Failure `unavailable`
 */
export function openSecretKey(data: string, given: Uint8Array | undefined): Uint8Array {
  const found = findSecretKey(data, given)
  if (found !== undefined) return found
  createOnce(data, join(data, SECRET_KEY_FILE), randomBytes(32).toString('base64'))
  return openSecretKey(data, given)
}

/**
 * Writes a secret to a new file. Returns false if the file exists. Safe against concurrent
 * processes.
 */
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
    // `link` fails if another process has created the file; `rename` would replace it.
    linkSync(beside, file)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw unusable(file, error)
  } finally {
    rmSync(beside, { force: true })
  }
}

/** Returns a suffix that keeps the temporary files of concurrent processes apart. */
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
