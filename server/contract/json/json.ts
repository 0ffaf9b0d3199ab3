/** A JSON value (RFC 8259). */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Returns the JSON Pointer (RFC 6901) to the value at a path of keys and indices. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

// Codes of the characters that have a meaning in JSON (RFC 8259 section 2).

export const QUOTE = 0x22
export const PLUS = 0x2b
export const COMMA = 0x2c
export const MINUS = 0x2d
export const DOT = 0x2e
export const ZERO = 0x30
export const NINE = 0x39
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
