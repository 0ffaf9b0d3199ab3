import { isolate } from '../../ui/text/with-name.tsx'
import { fieldLabel, splitUnescaped } from './field-path.ts'

/** A field to order by. */
export interface SortField {
  readonly field: string
  readonly isDescending: boolean
}

/** Parses the parameter `sort`, such as `-year,title`. */
export const parseSort = (text: string | undefined): SortField[] =>
  splitUnescaped(text ?? '', ',')
    .filter((part) => part !== '' && part !== '-')
    .map((part) => ({
      field: part.replace(/^-/, ''),
      isDescending: part.startsWith('-'),
    }))

export const formatSort = (sort: readonly SortField[]): string =>
  sort.map(({ field, isDescending }) => (isDescending ? '-' : '') + field).join(',')

/** Describes an order, such as "year, descending, then title, ascending". */
export const describeSort = (sort: readonly SortField[]): string =>
  sort
    .map(
      ({ field, isDescending }) =>
        `${isolate(fieldLabel(field))}, ${isDescending ? 'descending' : 'ascending'}`,
    )
    .join(', then ')

/**
 * Returns the order after a field was chosen: ascending, then descending, then as before. It orders
 * alone, or after the other fields if `extend` is true.
 */
export function toggleSort(
  sort: readonly SortField[],
  field: string,
  extend: boolean,
): readonly SortField[] {
  const now = sort.find((each) => each.field === field)
  const next =
    now === undefined
      ? [{ field, isDescending: false }]
      : now.isDescending
        ? []
        : [{ field, isDescending: true }]
  if (!extend) return next
  if (now === undefined) return [...sort, ...next]
  return sort.flatMap((each) => (each === now ? next : each))
}
