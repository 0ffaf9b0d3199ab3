import type { DatabaseRow } from './database-rows.ts'

/** A column by which databases can be sorted. */
export type SortColumn = 'name' | 'collections' | 'documents' | 'size' | 'endpoints'

/** `name`, or `-name` for the other direction; as it stands in the URL. */
export type DatabaseSort = SortColumn | `-${SortColumn}`

const figures: Readonly<Record<Exclude<SortColumn, 'name'>, (row: DatabaseRow) => number | null>> =
  {
    collections: ({ collections }) => collections,
    documents: ({ documents }) => documents,
    size: ({ bytes }) => bytes,
    endpoints: ({ naming, open }) => naming.length + open.length,
  }

/** How names are sorted at first. */
export const BY_NAME = 'name'

/** Whether a text names a way to sort. */
export const isSort = (text: string): text is DatabaseSort =>
  ['name', ...Object.keys(figures)].includes(text.replace(/^-/, ''))

/** The column of a sort, and whether it goes down. */
export const readSort = (sort: DatabaseSort) => ({
  column: sort.replace(/^-/, '') as SortColumn,
  down: sort.startsWith('-'),
})

/** What a press on the head of a column asks for: figures begin with the largest. */
export function nextSort(now: DatabaseSort, pressed: SortColumn): DatabaseSort {
  const { column, down } = readSort(now)
  if (column === pressed) return down ? pressed : `-${pressed}`
  return pressed === 'name' ? 'name' : `-${pressed}`
}

const byName = new Intl.Collator('en', { numeric: true })

/** Rows in an order of their own; what is not known comes last, equal figures by name. */
export function sortRows(rows: readonly DatabaseRow[], sort: DatabaseSort): DatabaseRow[] {
  const { column, down } = readSort(sort)
  const direction = down ? -1 : 1
  const names = (a: DatabaseRow, b: DatabaseRow) => byName.compare(a.name, b.name)
  if (column === 'name') return rows.toSorted((a, b) => direction * names(a, b))
  const figure = figures[column]
  return rows.toSorted((a, b) => {
    const [of, than] = [figure(a), figure(b)]
    if (of === than) return names(a, b)
    if (of === null || than === null) return of === null ? 1 : -1
    return direction * (of - than)
  })
}
