import { useQuery } from '@tanstack/react-query'
import { formatFilter } from '../model/conditions.ts'
import { countQuery } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'

/** Maximum number of ids that a filter names if a range of ids matches the same documents. */
const MAX_NAMED = 10

/** Maximum length of a filter in the URL. Servers and proxies reject long URLs. */
const MAX_LENGTH = 8_000

/**
 * Returns a filter that matches exactly these documents: by the range of their ids if it contains no
 * other document, otherwise by each id. Undefined while that is not known, or if the filter would be
 * too long.
 */
export function useImportedFilter(
  collectionRef: CollectionRef,
  ids: readonly string[],
): string | undefined {
  const { among, range } = importedFilters(ids)
  const isMany = ids.length > MAX_NAMED
  const { data: count, isPending } = useQuery({
    ...countQuery(collectionRef, range),
    enabled: isMany,
  })
  if (isMany && isPending) return undefined
  if (isMany && count === ids.length) return range
  return ids.length > 0 && encodeURIComponent(among).length <= MAX_LENGTH ? among : undefined
}

/** Returns the filters that match ids, and all ids between them. */
export function importedFilters(ids: readonly string[]) {
  const sorted = ids.toSorted()
  const values = sorted.map((id) => id.replace(/[\\,]/g, '\\$&'))
  return {
    among: formatFilter([{ name: 'id:in', value: values.join(',') }]),
    range: formatFilter([
      { name: 'id:gte', value: sorted[0] ?? '' },
      { name: 'id:lte', value: sorted.at(-1) ?? '' },
    ]),
  }
}
