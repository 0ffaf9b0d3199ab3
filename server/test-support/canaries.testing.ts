import { randomBytes } from 'node:crypto'

/** Secrets by name. */
export type Canaries = Map<string, string>

/** Returns a random secret that contains a name. */
export const createCanary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`

/** Returns the encodings in which a secret may appear. */
const spellings = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
  Buffer.from(`${secret}:`).toString('base64'),
]

/** Returns the names of the secrets that a text contains. */
export const findCanaries = (canaries: Canaries, text: string): string[] =>
  [...canaries]
    .filter(([, secret]) => spellings(secret).some((spelling) => text.includes(spelling)))
    .map(([name]) => name)
