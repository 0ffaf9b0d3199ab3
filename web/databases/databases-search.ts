import { BY_NAME, type DatabaseSort, isSort } from './database-sort.ts'

/** What the URL of the Databases page says: the filter, the order, the panel and the dialog that are open. */
export interface DatabasesSearch {
  readonly q?: string
  /** By name where it is left out. */
  readonly sort?: DatabaseSort
  /** The name of the database whose panel is open. */
  readonly open?: string
  /** The name that is asked about before it is dropped. */
  readonly drop?: string
}

/** Reads the search part of the URL; anything else in it is dropped. */
export function readDatabasesSearch(search: Record<string, unknown>): DatabasesSearch {
  const text = (key: 'q' | 'open' | 'drop') => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  const { sort } = search
  const sorted = typeof sort === 'string' && isSort(sort) && sort !== BY_NAME ? { sort } : {}
  return { ...text('q'), ...sorted, ...text('open'), ...text('drop') }
}
