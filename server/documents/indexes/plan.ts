import {
  type FieldPath,
  parseFilterName,
  printFieldPath,
  splitValues,
} from '../query/field-path.ts'
import { type Filter, parseExactly, toNumber } from '../query/filter.ts'
import type { Sort } from '../query/order.ts'
import type { IndexDefinition } from './definition.ts'
import { type KeyRange, keyOfValue, type RangeOperator, rangeOf, successorOf } from './index-key.ts'

/** Maximum number of ranges of keys that conditions of equality lead to. */
const STREAMS = 64

/** The part of a query that decides which index serves it. */
export interface PlannedQuery {
  readonly filter: Filter
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
  /** The fields of the index that are not fixed. If it is ordered, the query sorts by them. */
  readonly rest: Sort
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
  const conditions = groupConditions(query.filter)
  let best: Candidate | undefined
  for (const index of indexes) {
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
export function groupConditions(filter: Filter): ReadonlyMap<string, FieldConditions> {
  const fields = new Map<string, FieldConditions>()
  for (const [name, text] of filter) {
    const { path, operator = 'eq' } = parseFilterName(name)
    const field = nameOf(path)
    const conditions = fields.get(field) ?? { equal: [], ranges: [] }
    if (operator === 'eq') conditions.equal.push([text])
    else if (operator === 'in') conditions.equal.push([...new Set(splitValues(text))])
    else if (isRange(operator)) conditions.ranges.push([operator, text])
    else continue
    fields.set(field, conditions)
  }
  return fields
}

const nameOf = (path: FieldPath) => printFieldPath(path)

const RANGES: readonly string[] = ['lt', 'lte', 'gt', 'gte', 'starts'] satisfies RangeOperator[]

const isRange = (operator: string): operator is RangeOperator => RANGES.includes(operator)

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
  { sort, count }: PlannedQuery,
): Candidate | undefined {
  const { fields } = index
  let prefixes: readonly Buffer[] = [Buffer.of()]
  let fixed = 0
  /** The fields that have a single value in all documents that match. */
  const constant = new Set<string>()
  for (const { path, isDescending } of fields) {
    const name = nameOf(path)
    const texts = conditions.get(name)?.equal.toSorted((one, other) => one.length - other.length)[0]
    if (texts === undefined || texts.length > STREAMS) break
    const keys = keysOf(texts, isDescending, fields.length)
    if (keys.length * prefixes.length > STREAMS) break
    prefixes = prefixes.flatMap((prefix) => keys.map((key) => Buffer.concat([prefix, key])))
    if (keys.length === 1) constant.add(name)
    fixed++
  }
  const next = fields[fixed]
  const asked = next && conditions.get(nameOf(next.path))?.ranges
  const narrowed =
    next && asked?.length ? intersectAll(asked, next.isDescending, fields.length) : undefined
  const streams = prefixes.map((prefix) => ({ prefix, ranges: rangesAfter(prefix, narrowed) }))
  const rest = sort.filter(({ path }) => !constant.has(nameOf(path)))
  const remaining = fields.slice(fixed)
  const isOrder = (isReversed: boolean) =>
    !count &&
    rest.length === remaining.length &&
    rest.every(({ path, isDescending }, at) => {
      const field = remaining[at]
      if (field === undefined || nameOf(field.path) !== nameOf(path)) return false
      return (field.isDescending !== isDescending) === isReversed
    })
  const isForward = isOrder(false)
  const isReversed = !isForward && isOrder(true)
  const isOrdered = isForward || isReversed
  const isNarrowing = fixed > 0 || narrowed !== undefined
  if (!isNarrowing && !isOrdered) return undefined
  return {
    plan: { index, streams, isOrdered, isReversed, rest: remaining },
    rank: [
      fixed,
      narrowed === undefined ? 0 : 1,
      isOrdered ? 1 : 0,
      -fields.length,
      isReversed ? 0 : 1,
    ],
  }
}

/** Returns the keys of the values that equal one of the texts: a string, and another JSON value. */
function keysOf(texts: readonly string[], isDescending: boolean, fields: number): Buffer[] {
  const keys = new Map<string, Buffer>()
  for (const text of texts) {
    const other = parseExactly(text)
    for (const value of other === undefined ? [text] : [text, other]) {
      const { bytes } = keyOfValue(value, isDescending, fields)
      keys.set(bytes.toString('latin1'), bytes)
    }
  }
  return [...keys.values()]
}

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
  // Without the empty ranges, since every condition would double them.
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
