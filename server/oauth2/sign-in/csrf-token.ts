import { createHash, randomBytes, randomInt } from 'node:crypto'

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** How long a sign-in may take, seconds: the cookie's time to live (seed 001, "Limits"). */
export const SIGN_IN_SECONDS = 300

/** A token of 32 alphanumerics (seed 001), each as likely as any other: 190 bits. */
export const createCsrfToken = (): string =>
  Array.from({ length: 32 }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('')

/** By which a token is kept and found: SHA-256, hexadecimal. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** A secret of 256 bits, as a `code_verifier` (RFC 7636 §4.1) or a nonce. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

/** The `code_challenge` of a verifier by S256 (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')
