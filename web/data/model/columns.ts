import type { DocumentFields } from '../../../server/contract/document.ts'
import { printFieldPath } from '../../../server/contract/query/field-path.ts'
import { fieldLabel, splitUnescaped, valueAt } from './field-path.ts'
import { formatCell } from './format-cell.ts'

/** A column of the table: a field, and its width in pixels if it was resized. */
export interface FieldColumn {
  readonly field: string
  readonly width?: number
}

/** Number of columns shown at first, and the maximum. */
const INITIAL = 6
export const MAX_COLUMNS = 30

/** Widths of columns in pixels: the limits, and the minimum of one that shares the rest. */
export const COLUMN_WIDTH = { min: 64, max: 960, default: 160 } as const

/** Widths in pixels of a column that fits its ids or numbers, in steps, so that it rarely changes. */
const FITTED = { min: 104, max: 320, step: 16 }

/** Width of a monospace character, and what a cell needs besides its text, in pixels. */
const CHARACTER = 8
const PADDING = 24

/** Parses columns such as `title:240,author.name`. The field `id` stands for its width only. */
export function parseColumns(text: string): FieldColumn[] {
  const columns = new Map<string, FieldColumn>()
  for (const part of splitUnescaped(text, ',')) {
    const [field = '', width = ''] = splitUnescaped(part, ':')
    if (field === '' || columns.size > MAX_COLUMNS) continue
    columns.set(
      field,
      /^[1-9][0-9]{0,3}$/.test(width) ? { field, width: clamp(+width) } : { field },
    )
  }
  return [...columns.values()]
}

export const formatColumns = (columns: readonly FieldColumn[]): string =>
  columns.map(({ field, width }) => (width === undefined ? field : `${field}:${width}`)).join(',')

/** A column at its place in the table, with its width in pixels. */
export interface PlacedColumn {
  readonly field: string
  readonly width: number
  /** Whether the width is a share of what the other columns leave. */
  readonly isShared: boolean
}

/**
 * Returns the columns of the table, the id first. A column has its chosen width, or the width that
 * its ids or numbers need. The others share the rest of the room, which is given in pixels.
 */
export function placeColumns(
  columns: readonly FieldColumn[],
  fitted: ReadonlyMap<string, number>,
  room: number,
): readonly PlacedColumn[] {
  const id = columns.find(({ field }) => field === 'id') ?? { field: 'id' }
  const all = [id, ...columns.filter((column) => column !== id)].map(({ field, width }) => ({
    field,
    width: width ?? fitted.get(field),
  }))
  const used = all.reduce((sum, { width = 0 }) => sum + width, 0)
  const count = all.filter(({ width }) => width === undefined).length
  const share = clamp(Math.max(Math.floor((room - used) / count), COLUMN_WIDTH.default))
  return all.map(({ field, width }) => ({
    field,
    width: width ?? share,
    isShared: width === undefined && share < COLUMN_WIDTH.max,
  }))
}

/**
 * Returns the widths that the id and the columns of numbers need. The keys besides `id` are the
 * fields whose values are numbers.
 */
export function fitColumns(
  fields: readonly string[],
  documents: readonly DocumentFields[],
): ReadonlyMap<string, number> {
  const ids = documents.map(({ id }) => id)
  const fitted = new Map([['id', fittedWidth('Id', ids)]])
  for (const field of fields) {
    const values = documents.map((document) => valueAt(document, field))
    if (!isNumeric(values)) continue
    const texts = values.map((value) => formatCell(value).text)
    fitted.set(field, fittedWidth(fieldLabel(field), texts))
  }
  return fitted
}

function fittedWidth(label: string, texts: readonly string[]): number {
  // Two more characters for the arrow of a sorted column.
  const longest = texts.reduce((most, { length }) => Math.max(most, length), label.length + 2)
  const steps = Math.ceil((longest * CHARACTER + PADDING) / FITTED.step)
  return Math.min(Math.max(steps * FITTED.step, FITTED.min), FITTED.max)
}

/**
 * Returns columns with a new width of one of them. The id has a column without being chosen. Columns
 * at its left that share their width keep it, so that the resized one keeps its place.
 */
export function resizeColumn(
  columns: readonly FieldColumn[],
  placed: readonly PlacedColumn[],
  field: string,
  width: number,
): readonly FieldColumn[] {
  const at = placed.findIndex((each) => each.field === field)
  const widths = new Map(
    placed
      .slice(0, at)
      .filter(({ isShared }) => isShared)
      .map((each) => [each.field, each.width]),
  ).set(field, clamp(width))
  const known = columns.some((each) => each.field === field) ? columns : [{ field }, ...columns]
  return known.map((each) => {
    const next = widths.get(each.field)
    return next === undefined ? each : { field: each.field, width: next }
  })
}

/**
 * Returns the top-level fields that documents have besides `id`, those that most documents have
 * first, otherwise in the order in which they appear.
 */
export function rankFields(documents: readonly DocumentFields[]): string[] {
  const counts = new Map<string, number>()
  for (const name of documents.flatMap(Object.keys)) counts.set(name, (counts.get(name) ?? 0) + 1)
  counts.delete('id')
  return [...counts].sort(([, a], [, b]) => b - a).map(([name]) => printFieldPath([name]))
}

/**
 * Returns the columns shown at first: the used fields, which the table is filtered or sorted by, and
 * the first ranked ones.
 */
export function initialColumns(ranked: readonly string[], used: readonly string[]): FieldColumn[] {
  const wanted = new Set(used.filter((field) => field !== 'id'))
  const count = Math.min(Math.max(INITIAL, wanted.size), MAX_COLUMNS)
  const shown = new Set([...new Set([...wanted, ...ranked])].slice(0, count))
  return [...new Set([...ranked, ...wanted])]
    .filter((field) => shown.has(field))
    .map((field) => ({ field }))
}

const clamp = (width: number): number =>
  Math.round(Math.min(Math.max(width, COLUMN_WIDTH.min), COLUMN_WIDTH.max))

/** Returns whether all values except null and missing ones are numbers. */
export function isNumeric(values: readonly unknown[]): boolean {
  const present = values.filter((value) => value !== undefined && value !== null)
  return present.length > 0 && present.every((value) => typeof value === 'number')
}
