import { type ListedField, printFieldPath } from '../../contract/query/field-path.ts'
import {
  type Condition,
  equalTexts,
  type Operator,
  parseExactly,
  toNumber,
} from '../query/filter.ts'
import { isIdOrder, type Sort } from '../query/order.ts'
import type { IndexDefinition } from './definition.ts'
import {
  type IndexKey,
  type KeyRange,
  keyOfValue,
  mayBeTruncated,
  type RangeOperator,
  rangeOf,
  successorOf,
} from './index-key.ts'

/** Maximum number of combinations of values that conditions of equality select. */
const STREAMS = 64

/** The part of a query that decides which index serves it. */
export interface PlannedQuery {
  readonly conditions: readonly Condition[]
  readonly sort: Sort
  /** Whether all documents that match are counted. */
  readonly count: boolean
}

/** Keys that begin with the same values, in their order. */
export interface Stream {
  /** The key of the fields that conditions of equality fix. */
  readonly prefix: Buffer
  /** Ascending and disjoint. */
  readonly ranges: readonly KeyRange[]
}

/** How an index serves a query. */
export interface IndexPlan {
  readonly index: IndexDefinition
  readonly streams: readonly Stream[]
  /**
   * Whether the streams, merged by the rest of their keys, are in the order of the query. Otherwise
   * all of their documents are read and sorted.
   */
  readonly isOrdered: boolean
  /** Whether it is read from the end, because the query has the opposite order. */
  readonly isReversed: boolean
  /**
   * The fields of the index that are not fixed. If it is ordered, the query sorts by them; the last
   * one may be the id.
   */
  readonly rest: Sort
  /** Whether every document with a key in these ranges matches the filter. */
  readonly isExact: boolean
}

/**
 * Chooses the index that serves a query: the one with the most fields fixed by equality, then one
 * that narrows the next field to a range, then one in the requested order, then the one with the
 * fewest fields. Returns undefined if a scan of the collection is as good. Documents must still be
 * matched: conditions that an index does not serve are checked on the document.
 */
export function planQuery(
  indexes: readonly IndexDefinition[],
  query: PlannedQuery,
): IndexPlan | undefined {
  const conditions = groupConditions(query.conditions)
  // The primary key has the order of ids.
  const [order] = isIdOrder(query.sort) ? [] : query.sort
  const ordered = order && printFieldPath(order.path)
  let best: Candidate | undefined
  for (const index of indexes) {
    const [first] = index.fields
    const name = first && printFieldPath(first.path)
    if (name === undefined || (name !== ordered && !conditions.has(name))) continue
    const candidate = toCandidate(index, conditions, query)
    if (candidate === undefined) continue
    if (best === undefined || compareRanks(candidate.rank, best.rank) > 0) best = candidate
  }
  return best?.plan
}

/** The conditions on one field that an index can serve. */
export interface FieldConditions {
  /** The texts of each condition of equality. */
  readonly equal: (readonly string[])[]
  readonly ranges: (readonly [RangeOperator, string])[]
}

/** Returns the conditions that an index can serve, by the names of their fields. */
export function groupConditions(
  conditions: readonly Condition[],
): ReadonlyMap<string, FieldConditions> {
  const fields = new Map<string, FieldConditions>()
  for (const condition of conditions) {
    const { field, operator, text } = condition
    const texts = equalTexts(condition)
    const group = fields.get(field) ?? { equal: [], ranges: [] }
    if (texts !== undefined) group.equal.push(texts)
    else if (isRange(operator)) group.ranges.push([operator, text])
    else continue
    fields.set(field, group)
  }
  return fields
}

const RANGES: readonly Operator[] = ['lt', 'lte', 'gt', 'gte', 'starts'] satisfies RangeOperator[]

const isRange = (operator: Operator): operator is RangeOperator => RANGES.includes(operator)

/** Compared number by number; the greater rank is better. */
type Rank = readonly number[]

const compareRanks = (one: Rank, other: Rank): number =>
  one.reduce((order, number, at) => order || number - (other[at] ?? 0), 0)

interface Candidate {
  readonly plan: IndexPlan
  readonly rank: Rank
}

function toCandidate(
  index: IndexDefinition,
  conditions: ReadonlyMap<string, FieldConditions>,
  { conditions: { length }, sort, count }: PlannedQuery,
): Candidate | undefined {
  const { fields } = index
  let prefixes: readonly Buffer[] = [Buffer.of()]
  let fixed = 0
  /** Number of conditions that the ranges of keys guarantee. */
  let guaranteed = 0
  /** The fields that have a single value in all documents that match. */
  const constant = new Set<string>()
  for (const { path, isDescending } of fields) {
    const name = printFieldPath(path)
    const texts = shortestOf(conditions.get(name)?.equal)
    if (texts === undefined || texts.length > STREAMS) break
    const keys = keysOf(texts, isDescending, fields.length)
    if (keys.length * prefixes.length > STREAMS) break
    prefixes = prefixes.flatMap((prefix) =>
      keys.map(({ bytes }) => (fixed === 0 ? bytes : Buffer.concat([prefix, bytes]))),
    )
    // Several long strings can have one key, because it truncates them.
    if (texts.length === 1 && keys.length === 1) constant.add(name)
    if (!keys.some(({ isLossy }) => isLossy)) guaranteed++
    fixed++
  }
  const next = fields[fixed]
  const ranges = next && conditions.get(printFieldPath(next.path))?.ranges
  const narrowed =
    next && ranges?.length ? intersectAll(ranges, next.isDescending, fields.length) : undefined
  if (narrowed?.every((range) => !mayBeTruncated(longestOf(range), fields.length)) && ranges) {
    guaranteed += ranges.length
  }
  const streams = prefixes.map((prefix) => ({ prefix, ranges: rangesAfter(prefix, narrowed) }))
  const rest = sort.filter(({ path }) => !constant.has(printFieldPath(path)))
  const remaining = fields.slice(fixed)
  // Documents with equal values are ordered by id, so an index may end in it.
  const orders = [rest, [...rest, BY_ID]]
  const isOrder = (isReversed: boolean) =>
    !count && orders.some((order) => hasOrder(remaining, order, isReversed))
  const isForward = isOrder(false)
  const isReversed = !isForward && isOrder(true)
  const isOrdered = isForward || isReversed
  const isNarrowing = fixed > 0 || narrowed !== undefined
  if (!isNarrowing && !isOrdered) return undefined
  return {
    plan: {
      index,
      streams,
      isOrdered,
      isReversed,
      rest: remaining,
      isExact: guaranteed === length,
    },
    rank: [
      fixed,
      narrowed === undefined ? 0 : 1,
      isOrdered ? 1 : 0,
      -fields.length,
      isReversed ? 0 : 1,
    ],
  }
}

const BY_ID: ListedField = { path: ['id'], isDescending: false }

/** Returns whether fields have an order, or all of them the opposite one. */
const hasOrder = (fields: Sort, order: Sort, isReversed: boolean): boolean =>
  fields.length === order.length &&
  fields.every(({ path, isDescending }, at) => {
    const other = order[at]
    if (other === undefined || printFieldPath(other.path) !== printFieldPath(path)) return false
    return (other.isDescending !== isDescending) === isReversed
  })

/** Returns the shortest list; the first one if several are equally short. */
export function shortestOf<T>(lists: readonly (readonly T[])[] = []): readonly T[] | undefined {
  let [shortest] = lists
  for (const list of lists) if (list.length < (shortest?.length ?? 0)) shortest = list
  return shortest
}

/** Returns the keys of the values that equal one of the texts: a string, and another JSON value. */
function keysOf(texts: readonly string[], isDescending: boolean, fields: number): IndexKey[] {
  const keys: IndexKey[] = []
  for (const text of texts) {
    keys.push(keyOfValue(text, isDescending, fields))
    const other = parseExactly(text)
    if (other !== undefined) keys.push(keyOfValue(other, isDescending, fields))
  }
  // Truncated strings, and arrays and objects, can have the same key.
  if (texts.length === 1) return keys
  return [...new Map(keys.map((key) => [key.bytes.toString('latin1'), key])).values()]
}

const longestOf = ({ lower, upper }: KeyRange) => Math.max(lower.length, upper.length)

/** Returns the ranges of keys that match all conditions on a field. */
function intersectAll(
  conditions: FieldConditions['ranges'],
  isDescending: boolean,
  fields: number,
): KeyRange[] {
  const all = conditions.map(([operator, text]) => {
    const number = operator === 'starts' ? undefined : toNumber(text)
    const values = number === undefined ? [text] : [number, text]
    return values.map((value) => rangeOf(operator, value, isDescending, fields))
  })
  // Drop empty ranges: every condition would double their number.
  return all
    .reduce((some, others) =>
      some.flatMap((one) => others.flatMap((other) => intersect(one, other))),
    )
    .toSorted((one, other) => Buffer.compare(one.lower, other.lower))
}

/** Returns the keys that two ranges share; none if they are disjoint. */
function intersect(one: KeyRange, other: KeyRange): readonly KeyRange[] {
  const lower = Buffer.compare(one.lower, other.lower) > 0 ? one.lower : other.lower
  const upper = Buffer.compare(one.upper, other.upper) < 0 ? one.upper : other.upper
  return Buffer.compare(lower, upper) < 0 ? [{ lower, upper }] : []
}

function rangesAfter(prefix: Buffer, narrowed: readonly KeyRange[] | undefined): KeyRange[] {
  if (narrowed === undefined) return [{ lower: prefix, upper: successorOf(prefix) }]
  return narrowed.map(({ lower, upper }) => ({
    lower: Buffer.concat([prefix, lower]),
    upper: Buffer.concat([prefix, upper]),
  }))
}
