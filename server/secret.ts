import { hash, randomBytes } from 'node:crypto'

/** Returns a secret of 256 random bits, URL-safe: 43 characters. */
export const createSecret = (): string => randomBytes(32).toString('base64url')

/**
 * Returns the hash under which a secret is stored: SHA-256, hexadecimal. A secret of 256 random
 * bits needs no salt and no slow hash.
 */
export const hashSecret = (secret: string): string => hash('sha256', secret, 'hex')
