import * as z from 'zod/mini'
import type { TokenInput } from '../../../server/contract/access/token.ts'
import { type ScopeDraft, toDatabases, toScopeDraft, validateScope } from '../scope/scope-draft.ts'

/** Lifetime of a token: a number of days, until a date, or unlimited. */
export type TokenLifetime = '30' | '90' | '365' | 'date' | 'never'

/** Values of the token form. */
export interface TokenDraft extends ScopeDraft {
  readonly name: string
  readonly role: TokenInput['role']
  readonly lifetime: TokenLifetime
  /** Last day, as `2027-01-31`, if `lifetime` is `date`. */
  readonly day: string
}

/** Initial values: the least privileged role and a lifetime of 90 days. */
export const emptyTokenDraft: TokenDraft = {
  name: '',
  role: 'viewer',
  ...toScopeDraft(null),
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
    z.refine((draft) => validateScope(draft) === undefined, {
      path: ['databases'],
      error: ({ input }) => validateScope(input as TokenDraft),
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
    databases: toDatabases(draft),
    expires: end === null ? null : new Date(end).toISOString(),
  }
}
