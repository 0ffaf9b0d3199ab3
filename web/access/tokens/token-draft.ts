import * as z from 'zod/mini'
import type { TokenInput } from '../../../server/contract/access/token.ts'

/** Lifetime of a token: a number of days, until a date, or unlimited. */
export type TokenLifetime = '30' | '90' | '365' | 'date' | 'never'

/** Values of the token form. */
export interface TokenDraft {
  readonly name: string
  readonly role: TokenInput['role']
  /** Whether the token can access all databases or only the selected ones. */
  readonly reach: 'all' | 'only'
  readonly databases: readonly string[]
  readonly lifetime: TokenLifetime
  /** Last day, as `2027-01-31`, if `lifetime` is `date`. */
  readonly day: string
}

/** Initial values: the least privileged role and a lifetime of 90 days. */
export const emptyTokenDraft: TokenDraft = {
  name: '',
  role: 'viewer',
  reach: 'all',
  databases: [],
  lifetime: '90',
  day: '',
}

const DAY_MS = 86_400_000
const LONGEST_NAME = 64

/**
 * Returns when the token expires, in ms since the Unix epoch; null for never, NaN for an invalid
 * date.
 */
export function endOf({ lifetime, day }: TokenDraft, now: number): number | null {
  if (lifetime === 'never') return null
  if (lifetime !== 'date') return now + Number(lifetime) * DAY_MS
  // The whole day counts, in the browser's time zone.
  return new Date(`${day}T23:59:59`).getTime()
}

/** Groups of fields that are validated together: a change of one clears the errors of all. */
export const tokenFieldGroups = [
  ['reach', 'databases'],
  ['lifetime', 'day'],
] as const

/** Returns the schema of a draft. `now` returns ms since the Unix epoch. */
export const tokenSchema = (now: () => number) =>
  z.custom<TokenDraft>().check(
    z.refine(({ name }) => name.trim() !== '', {
      path: ['name'],
      error: 'Enter a name, such as the app that will use this token.',
    }),
    z.refine(({ name }) => name.trim().length <= LONGEST_NAME, {
      path: ['name'],
      error: `The name is too long. Use at most ${LONGEST_NAME} characters.`,
    }),
    z.refine(({ reach, databases }) => reach === 'all' || databases.length > 0, {
      path: ['databases'],
      error: 'Choose at least one database, or choose All databases.',
    }),
    z.refine((draft) => isToCome(endOf(draft, now()), now()), {
      path: ['day'],
      error: 'Choose a date in the future.',
    }),
  )

const isToCome = (end: number | null, now: number) => end === null || end > now

/** Returns the request body for a valid draft. */
export function toTokenInput(draft: TokenDraft, now: number): TokenInput {
  const end = endOf(draft, now)
  return {
    name: draft.name.trim(),
    role: draft.role,
    databases: draft.reach === 'all' ? null : [...draft.databases],
    expires: end === null ? null : new Date(end).toISOString(),
  }
}
