/**
 * A list in which the parts of some names are put in place of what it had of them; names that have
 * none any more go. All other parts are the same objects as before, in their order.
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
