import type { DocumentFields } from '../../../server/contract/document.ts'
import { fieldsOf, namesOf, splitUnescaped } from './field-path.ts'

/** A column of the table: a field, and its width in pixels if it was resized. */
export interface FieldColumn {
  readonly field: string
  readonly width?: number
}

/** Number of columns shown at first, and the maximum. */
const INITIAL = 6
export const MAX_COLUMNS = 30

/** Widths of columns in pixels: the limits, and the initial width of ids, numbers and other values. */
export const COLUMN_WIDTH = { min: 64, max: 960, id: 208, figures: 104, default: 160 } as const

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

/** Returns columns with a new width of one of them. The id has a column without being chosen. */
export function resizeColumn(
  columns: readonly FieldColumn[],
  field: string,
  width: number,
): readonly FieldColumn[] {
  const resized = { field, width: clamp(width) }
  const isKnown = columns.some((each) => each.field === field)
  return isKnown
    ? columns.map((each) => (each.field === field ? resized : each))
    : [resized, ...columns]
}

/** Returns the first top-level fields of documents as columns. */
export const initialColumns = (documents: readonly DocumentFields[]): FieldColumn[] =>
  fieldsOf(documents)
    .filter((field) => namesOf(field).length === 1)
    .slice(0, INITIAL)
    .map((field) => ({ field }))

export const clamp = (width: number): number =>
  Math.round(Math.min(Math.max(width, COLUMN_WIDTH.min), COLUMN_WIDTH.max))

/** Returns whether values are numbers, which are right-aligned. Null and missing values are ignored. */
export function isNumeric(values: readonly unknown[]): boolean {
  const present = values.filter((value) => value !== undefined && value !== null)
  return present.length > 0 && present.every((value) => typeof value === 'number')
}
