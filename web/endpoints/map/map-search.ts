/** What the URL of the map says: the filter. */
export interface MapSearch {
  readonly q?: string
}

/** Reads the search part of the URL; anything else in it is dropped. */
export const readMapSearch = ({ q }: Record<string, unknown>): MapSearch =>
  typeof q === 'string' && q !== '' ? { q } : {}
