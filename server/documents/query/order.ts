import type { Json } from '../../contract/json/json.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import { type ListedField, valueAt } from '../../contract/query/field-path.ts'

/** The fields that order a collection. Documents with equal values are ordered by id. */
export type Sort = readonly ListedField[]

/** Returns whether an order is that of ids, or the opposite one: the primary key serves it. */
export const isIdOrder = ([first]: Sort): boolean =>
  first === undefined || (first.path.length === 1 && first.path[0] === 'id')

/** A value to sort by; undefined if the document does not have the field. */
export type SortValue = Json | undefined

/** The position of a document in an order. */
export interface Position {
  readonly values: readonly SortValue[]
  readonly id: string
}

/**
 * Compares two values: missing < null < false < true < numbers < strings by code point < arrays and
 * objects, which are equal among themselves.
 */
export function compareValues(one: SortValue, other: SortValue): number {
  const rank = rankOf(one)
  const difference = rank - rankOf(other)
  if (difference !== 0) return difference
  if (rank === NUMBER) return (one as number) - (other as number)
  if (rank === STRING) return compareCodePoints(one as string, other as string)
  return 0
}

const [NUMBER, STRING] = [4, 5]

function rankOf(value: SortValue): number {
  if (value === undefined) return 0
  if (value === null) return 1
  if (value === false) return 2
  if (value === true) return 3
  if (typeof value === 'number') return NUMBER
  return typeof value === 'string' ? STRING : 6
}

/** Returns the position of a document. */
export const positionOf = (document: Json, id: string, sort: Sort): Position => ({
  values: sort.map(({ path }) => {
    const value = valueAt(document, path)
    // All arrays and objects are equal, so the empty one represents them.
    return typeof value === 'object' && value !== null ? {} : value
  }),
  id,
})

/** Returns a function that compares positions in this order. */
export const createComparator =
  (sort: Sort) =>
  (one: Position, other: Position): number => {
    for (const [at, { isDescending }] of sort.entries()) {
      const difference = compareValues(one.values[at], other.values[at])
      if (difference !== 0) return isDescending ? -difference : difference
    }
    return compareCodePoints(one.id, other.id)
  }

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
