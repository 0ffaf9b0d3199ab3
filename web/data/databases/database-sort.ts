import { compareNames } from '../../ui/text/compare-names.ts'
import type { DatabaseRow } from './database-rows.ts'

export type SortColumn = 'name' | 'collections' | 'documents' | 'size' | 'endpoints'

/** Sort order in the URL: a column, with a `-` prefix for descending. */
export type DatabaseSort = SortColumn | `-${SortColumn}`

const figures: Readonly<Record<Exclude<SortColumn, 'name'>, (row: DatabaseRow) => number | null>> =
  {
    collections: ({ collections }) => collections,
    documents: ({ documents }) => documents,
    size: ({ bytes }) => bytes,
    endpoints: ({ mapped, open }) => mapped.length + open.length,
  }

/** Returns the sort order of a URL. Default: by name. */
export const toSort = (text: string | undefined): DatabaseSort =>
  (text !== undefined && Object.hasOwn(figures, text.replace(/^-/, ''))) || text === '-name'
    ? (text as DatabaseSort)
    : 'name'

export const readSort = (sort: DatabaseSort) => ({
  column: sort.replace(/^-/, '') as SortColumn,
  down: sort.startsWith('-'),
})

/** Returns the sort order after a click on a column header. Numeric columns start descending. */
export function nextSort(now: DatabaseSort, pressed: SortColumn): DatabaseSort {
  const { column, down } = readSort(now)
  if (column === pressed) return down ? pressed : `-${pressed}`
  return pressed === 'name' ? 'name' : `-${pressed}`
}

/** Returns sorted rows. Unknown values come last; equal numbers are sorted by name. */
export function sortRows(rows: readonly DatabaseRow[], sort: DatabaseSort): DatabaseRow[] {
  const { column, down } = readSort(sort)
  const direction = down ? -1 : 1
  const names = (a: DatabaseRow, b: DatabaseRow) => compareNames(a.name, b.name)
  if (column === 'name') return rows.toSorted((a, b) => direction * names(a, b))
  const figure = figures[column]
  return rows.toSorted((a, b) => {
    const [of, than] = [figure(a), figure(b)]
    if (of === than) return names(a, b)
    if (of === null || than === null) return of === null ? 1 : -1
    return direction * (of - than)
  })
}
