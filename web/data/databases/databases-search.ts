import { BY_NAME, type DatabaseSort, isSort } from './database-sort.ts'

/** URL search of the Databases page: the filter, the sort order, and the open panel or dialog. */
export interface DatabasesSearch {
  readonly q?: string
  /** Default: by name. */
  readonly sort?: DatabaseSort
  /** Name of the database whose panel is open. */
  readonly open?: string
  /** Name of the database whose drop awaits confirmation. */
  readonly drop?: string
}

/** Parses the URL search and drops unknown or invalid parameters. */
export function readDatabasesSearch(search: Record<string, unknown>): DatabasesSearch {
  const text = (key: 'q' | 'open' | 'drop') => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  const { sort } = search
  const sorted = typeof sort === 'string' && isSort(sort) && sort !== BY_NAME ? { sort } : {}
  return { ...text('q'), ...sorted, ...text('open'), ...text('drop') }
}
