/** What the URL of the Databases page says: the filter, the panel and the dialog that are open. */
export interface DatabasesSearch {
  readonly q?: string
  /** The name of the database whose panel is open. */
  readonly open?: string
  /** The name that is asked about before it is dropped. */
  readonly drop?: string
}

/** Reads the search part of the URL; anything else in it is dropped. */
export function readDatabasesSearch(search: Record<string, unknown>): DatabasesSearch {
  const text = (key: keyof DatabasesSearch) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return { ...text('q'), ...text('open'), ...text('drop') }
}
