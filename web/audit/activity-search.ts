import type { AuditRow } from '../../server/contract/audit.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../server/contract/audit-action.ts'

/** URL search of the Activity page: the filter and the expanded row. */
export interface ActivitySearch {
  /** A part of the name of the actor or their token. */
  readonly who?: string
  /** An action, or the noun before its dot. */
  readonly what?: string
  /** `done` or `refused`. */
  readonly outcome?: AuditRow['outcome']
  /** First and last day, as `2026-01-31`, in the browser's time zone. */
  readonly from?: string
  readonly to?: string
  /** Sequence number of the expanded row. */
  readonly open?: string
}

type NounOf<Action> = Action extends `${infer Noun}.${string}` ? Noun : never

/** The kind of object that an action changes, such as `endpoint`. */
export type AuditNoun = NounOf<AuditAction>

/** Nouns of the actions, in order of appearance. */
export const nouns: readonly AuditNoun[] = [
  ...new Set(AUDIT_ACTIONS.map((action) => action.split('.', 1)[0] as AuditNoun)),
]

const isAction = (text: string): text is AuditAction =>
  ([...nouns, ...AUDIT_ACTIONS] as readonly string[]).includes(text)

/** The last day that a query can name. The day after it has a year of five digits. */
const LAST_DAY = '9999-12-31'

/** Returns the day of a time in the browser's time zone, as `2026-01-31`. */
export function dayOf(time: number): string {
  const date = new Date(time)
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) =>
    `${part}`.padStart(2, '0'),
  )
  return `${date.getFullYear()}-${month}-${day}`
}

/** Returns whether text is a day since 1970. While a year is typed, it is earlier. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '1970') return false
  const time = Date.parse(`${text}T00:00:00Z`)
  // The 31st of February is read as a day in March.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Parses the URL search and drops unknown or invalid parameters. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const text = (key: string, fits: (value: string) => boolean) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' && fits(value) ? { [key]: value } : {}
  }
  return {
    ...text('who', () => true),
    ...text('what', isAction),
    ...text('outcome', (value) => value === 'done' || value === 'refused'),
    ...text('from', isDay),
    ...text('to', isDay),
    ...text('open', (value) => /^\d+$/.test(value)),
  }
}

/**
 * Returns the query parameters for the server. Days become times in UTC; `to` includes its whole
 * day.
 */
export function toAuditQuery({ who = '', what, outcome, from, to }: ActivitySearch) {
  return {
    ...(who.trim() === '' ? {} : { who: who.trim() }),
    ...(what === undefined ? {} : { what }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(from === undefined ? {} : { from: new Date(startOf(from)).toISOString() }),
    ...(to === undefined || to === LAST_DAY ? {} : { to: new Date(startOf(to, 1)).toISOString() }),
  }
}

export const isFiltered = (search: ActivitySearch): boolean =>
  Object.keys(toAuditQuery(search)).length > 0

/**
 * Returns when a day begins in the browser's time zone, plus `later` days. A day can have 23 or 25
 * hours.
 */
function startOf(day: string, later = 0): number {
  const start = new Date(`${day}T00:00:00`)
  start.setDate(start.getDate() + later)
  return start.getTime()
}
