import { randomInt } from 'node:crypto'

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns a token of 32 random alphanumeric characters: 190 bits. */
export const createCsrfToken = (): string =>
  Array.from({ length: 32 }, () => ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]).join('')
