/**
 * Returns `list` with the parts of the endpoints `names` replaced by those in `fresh`. Parts
 * without a replacement are removed and new ones are appended. All other parts keep their identity
 * and order.
 */
export function mergeParts<T extends { readonly endpoint: string }>(
  list: readonly T[],
  names: readonly string[],
  fresh: readonly T[],
): T[] {
  const named = new Set(names)
  const left = new Map(names.map((name) => [name, fresh.filter((each) => each.endpoint === name)]))
  const merged = list.flatMap((part) => {
    const parts = left.get(part.endpoint)
    if (parts === undefined) return named.has(part.endpoint) ? [] : part
    left.delete(part.endpoint)
    return parts
  })
  return [...merged, ...[...left.values()].flat()]
}
