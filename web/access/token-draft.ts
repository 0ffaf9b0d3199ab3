import type { Role } from '../../server/contract/role.ts'
import type { TokenInput } from '../../server/contract/token.ts'

/** How long a token lasts: a number of days, until a day, or without an end. */
export type Lasting = '30' | '90' | '365' | 'date' | 'never'

/** What stands in the form. */
export interface TokenDraft {
  readonly name: string
  readonly role: Exclude<Role, 'pending'>
  /** Every database, or only those named. */
  readonly reach: 'all' | 'only'
  readonly databases: readonly string[]
  readonly lasting: Lasting
  /** `2027-01-31`, where it lasts until a day. */
  readonly day: string
}

/** A part of the form that a fault can stand at. */
export type TokenField = 'name' | 'databases' | 'day' | 'form'

/** What the form begins with: the least role, an end in 90 days. */
export const emptyTokenDraft: TokenDraft = {
  name: '',
  role: 'viewer',
  reach: 'all',
  databases: [],
  lasting: '90',
  day: '',
}

const DAY_MS = 86_400_000
const LONGEST_NAME = 64

/** When the token of a draft ends: a time, null for never; NaN where the day is none. */
export function endOf({ lasting, day }: TokenDraft, now: number): number | null {
  if (lasting === 'never') return null
  if (lasting !== 'date') return now + Number(lasting) * DAY_MS
  // The whole day counts, where whoever chooses it lives.
  return new Date(`${day}T23:59:59`).getTime()
}

/** What is wrong with a draft, by field. */
export function tokenFaults(draft: TokenDraft, now: number): Partial<Record<TokenField, string>> {
  const name = draft.name.trim()
  const end = endOf(draft, now)
  return {
    ...(name === '' ? { name: 'The name is missing. Call it after what uses it.' } : {}),
    ...(name.length > LONGEST_NAME
      ? { name: `The name is too long: ${LONGEST_NAME} characters at most.` }
      : {}),
    ...(draft.reach === 'only' && draft.databases.length === 0
      ? { databases: 'No database is chosen. Choose one, or choose All databases.' }
      : {}),
    ...(end !== null && !(end > now) ? { day: 'Choose a day to come.' } : {}),
  }
}

/** What is sent for a draft without faults. */
export function toTokenInput(draft: TokenDraft, now: number): TokenInput {
  const end = endOf(draft, now)
  return {
    name: draft.name.trim(),
    role: draft.role,
    databases: draft.reach === 'all' ? null : [...draft.databases],
    expires: end === null ? null : new Date(end).toISOString(),
  }
}
