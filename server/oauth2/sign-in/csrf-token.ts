import { createHash, randomBytes, randomInt } from 'node:crypto'

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Maximum duration of a sign-in and of its cookie, seconds (docs/sign-in.md, "The flow"). */
export const SIGN_IN_SECONDS = 300

/** Returns a token of 32 random alphanumeric characters: 190 bits. */
export const createCsrfToken = (): string =>
  Array.from({ length: 32 }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('')

/** Returns the hash under which a token is stored: SHA-256, hexadecimal. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Returns a secret of 256 random bits, for use as `code_verifier` (RFC 7636 §4.1) or nonce. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

/** Returns the S256 `code_challenge` of a verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')
