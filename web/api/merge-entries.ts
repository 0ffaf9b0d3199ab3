/**
 * Returns `list` with the entries of the endpoints `names` replaced by those in `fresh`. Entries
 * without a replacement are removed and new ones are appended. All other entries keep their identity
 * and order.
 */
export function mergeEntries<T extends { readonly endpoint: string }>(
  list: readonly T[],
  names: readonly string[],
  fresh: readonly T[],
): T[] {
  const named = new Set(names)
  const left = new Map(names.map((name) => [name, fresh.filter((each) => each.endpoint === name)]))
  const merged = list.flatMap((entry) => {
    const entries = left.get(entry.endpoint)
    if (entries === undefined) return named.has(entry.endpoint) ? [] : entry
    left.delete(entry.endpoint)
    return entries
  })
  return [...merged, ...[...left.values()].flat()]
}
