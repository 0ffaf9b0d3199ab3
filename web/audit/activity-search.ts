import { AUDIT_ACTIONS, type AuditAction } from '../../server/contract/audit-action.ts'

/** What the URL of the Activity page says: the filter, and the row that is open. */
export interface ActivitySearch {
  /** How the name of whoever did it begins. */
  readonly who?: string
  /** An action, or what stands before its dot. */
  readonly what?: string
  /** The first and the last day, `2026-01-31`, where the reader is. */
  readonly from?: string
  readonly to?: string
  /** The number of the row whose before and after are shown. */
  readonly open?: string
}

/** The nouns that actions begin with, in their order. */
export const nouns: readonly string[] = [
  ...new Set(AUDIT_ACTIONS.map((action) => action.split('.')[0] ?? action)),
]

const isWhat = (text: string): text is AuditAction =>
  nouns.includes(text) || (AUDIT_ACTIONS as readonly string[]).includes(text)

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(startOf(text))

/** Reads the search part of the URL; anything else in it is dropped. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const text = (key: string, fits: (value: string) => boolean) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' && fits(value) ? { [key]: value } : {}
  }
  return {
    ...text('who', () => true),
    ...text('what', isWhat),
    ...text('from', isDay),
    ...text('to', isDay),
    ...text('open', (value) => /^\d+$/.test(value)),
  }
}

/** What is asked of the server: days become moments, the last one up to its end. */
export function toAuditQuery({ who = '', what, from, to }: ActivitySearch) {
  return {
    ...(who.trim() === '' ? {} : { who: who.trim() }),
    ...(what === undefined || !isWhat(what) ? {} : { what }),
    ...(from === undefined ? {} : { from: new Date(startOf(from)).toISOString() }),
    ...(to === undefined ? {} : { to: new Date(startOf(to, 1)).toISOString() }),
  }
}

/** Whether anything is filtered. */
export const isFiltered = (search: ActivitySearch): boolean =>
  Object.keys(toAuditQuery(search)).length > 0

/** When a day, or one some days later, begins where the reader is; a day can have 23 or 25 hours. */
function startOf(day: string, later = 0): number {
  const start = new Date(`${day}T00:00:00`)
  start.setDate(start.getDate() + later)
  return start.getTime()
}
