/** The search parameters of the map: the filter. */
export interface MapSearch {
  readonly q?: string
}

/** Parses the search parameters of the URL; unknown ones are dropped. */
export const readMapSearch = ({ q }: Record<string, unknown>): MapSearch =>
  typeof q === 'string' && q !== '' ? { q } : {}
