import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Prefix of every API token. People and secret scanners recognize a leaked token by it. */
const TOKEN_PREFIX = 'gh_'

// 43 base-62 characters hold 256 bits; 6 hold the 32 bits of the checksum.
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6
const TOKEN = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * Returns a new API token: `gh_`, 256 random bits, and a checksum of the preceding characters. All
 * characters are URL-unreserved (RFC 3986 §2.3), so a token can be the user part of a URL.
 */
export function createTokenText(): string {
  const body = TOKEN_PREFIX + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH)
  return body + checksum(body)
}

/**
 * Whether a text has the format and the checksum of a token. Typing errors are found without a
 * query.
 */
export function isTokenText(text: string): boolean {
  const at = text.length - CHECKSUM_LENGTH
  return TOKEN.test(text) && checksum(text.slice(0, at)) === text.slice(at)
}

/** Minimum length of an operator key, in characters. */
export const OPERATOR_KEY_LENGTH = 32

/** Whether a text is long enough for an operator key and has no white space. */
export const isOperatorKey = (text: string): boolean =>
  text.length >= OPERATOR_KEY_LENGTH && !/\s/.test(text)

/** Returns a new operator key: the prefix `gatehouse-` and 256 random bits. */
export const createOperatorKey = (): string =>
  `gatehouse-${base62(BigInt(`0x${randomBytes(32).toString('hex')}`), RANDOM_LENGTH)}`

/** Returns the CRC-32 of a text in base 62. Every request with a token computes it. */
function checksum(text: string): string {
  let digits = ''
  for (let rest = crc32(text); digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    digits = ALPHABET.charAt(rest % 62) + digits
  }
  return digits
}

function base62(number: bigint, length: number): string {
  let text = ''
  for (let rest = number; text.length < length; rest /= 62n) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text
  }
  return text
}
