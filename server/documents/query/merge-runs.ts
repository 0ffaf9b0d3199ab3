/** Merges sorted runs into one sorted sequence, which is computed as it is read. */
export function mergeRuns<T>(
  runs: readonly Iterable<T>[],
  compare: (one: T, other: T) => number,
): Iterable<T> {
  if (runs.length <= 1) return runs[0] ?? []
  const half = runs.length >> 1
  return merge(
    mergeRuns(runs.slice(0, half), compare),
    mergeRuns(runs.slice(half), compare),
    compare,
  )
}

function* merge<T>(
  ones: Iterable<T>,
  others: Iterable<T>,
  compare: (one: T, other: T) => number,
): Generator<T> {
  const [first, second] = [ones[Symbol.iterator](), others[Symbol.iterator]()]
  let [one, other] = [first.next(), second.next()]
  while (!one.done && !other.done) {
    if (compare(one.value, other.value) <= 0) {
      yield one.value
      one = first.next()
    } else {
      yield other.value
      other = second.next()
    }
  }
  for (; !one.done; one = first.next()) yield one.value
  for (; !other.done; other = second.next()) yield other.value
}
