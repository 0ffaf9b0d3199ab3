import { exactTime } from '../../ui/text/relative-time.tsx'

/** The text of a value in a cell, and how to show it. */
export interface CellText {
  readonly text: string
  readonly kind: 'missing' | 'text' | 'number' | 'boolean' | 'time' | 'json'
  /** The exact time with its zone, and as it is stored. */
  readonly tip?: string
}

/** Matches a time of RFC 3339, such as `2026-11-30T12:11:28.741Z`. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** As ISO 8601 writes times: `2026-11-30 12:11:28`. */
const times = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

/** Maximum number of characters, more than the widest column shows. */
const MAX_CHARACTERS = 200

/**
 * Returns the text of a value. Strings are shown on one line, times in the zone of the browser, and
 * all other values as JSON.
 */
export function formatCell(value: unknown): CellText {
  if (value === undefined) return { text: '–', kind: 'missing' }
  if (typeof value === 'string')
    return formatTime(value) ?? { text: toLine(shorten(value)), kind: 'text' }
  const kind = typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'json'
  return { text: shorten(JSON.stringify(value)), kind: kind as CellText['kind'] }
}

function formatTime(text: string): CellText | undefined {
  const moment = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(moment)) return undefined
  return { text: times.format(moment), kind: 'time', tip: `${exactTime(moment)} · ${text}` }
}

/** Returns text with each line break and tab as a space, so that it keeps the height of a row. */
export const toLine = (text: string): string => text.replace(/\r\n|[\n\r\t\v\f\u2028\u2029]/g, ' ')

const shorten = (text: string) =>
  // Do not cut a surrogate pair in half.
  text.length > MAX_CHARACTERS
    ? `${text.slice(0, MAX_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`
    : text
