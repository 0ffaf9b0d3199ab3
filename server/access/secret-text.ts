import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** How every API token begins, so that people and scanners of leaked secrets know one. */
export const TOKEN_PREFIX = 'gh_'

// 43 characters of 62 hold 256 bits; six hold the 32 of the checksum.
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6
const TOKEN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * Makes an API token: `gh_`, 256 random bits, and a checksum of what stands before it. All of it is
 * of URL-unreserved characters (RFC 3986 §2.3), so it can be the user part of an URL.
 */
export function createTokenText(): string {
  const body = TOKEN_PREFIX + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH)
  return body + checksum(body)
}

/** Whether a text can be a token at all; a typing error is found without asking the store. */
export function isTokenText(text: string): boolean {
  const at = text.length - CHECKSUM_LENGTH
  return TOKEN.test(text) && checksum(text.slice(0, at)) === text.slice(at)
}

/** Makes the secret of a session: 256 random bits. */
export const createSessionSecret = (): string => randomBytes(32).toString('base64url')

/** Makes an operator key: 256 random bits, recognisable by its beginning. */
export const createOperatorKey = (): string =>
  `gatehouse-${base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH)}`

/** What is stored of a secret in its place. A secret of 256 bits needs no salt and no slow hash. */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex')

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_LENGTH)

function base62(number: bigint, length: number): string {
  let text = ''
  for (let rest = number; text.length < length; rest /= 62n) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text
  }
  return text
}
