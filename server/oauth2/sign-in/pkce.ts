import { hash } from 'node:crypto'

/** Returns the S256 `code_challenge` of a verifier (RFC 7636 §4.2). */
export const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url')
