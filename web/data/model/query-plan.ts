import type { DocumentIndex } from '../../../server/contract/document-index.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { type Condition, partsOf } from './conditions.ts'
import type { SortField } from './sort.ts'

/** What a query read, from the header `Query-Plan`. */
export interface QueryPlan {
  /** The index that served it; undefined if the whole collection was scanned. */
  readonly index: string | undefined
  readonly scanned: number
}

/** Parses `index=by-author; scanned=12; returned=12` or `scan; scanned=200000; returned=3`. */
export function parsePlan(header: string | null): QueryPlan | undefined {
  const found = /^(?:scan|index=([^;]+)); scanned=([0-9]+);/.exec(header ?? '')
  return found === null ? undefined : { index: found[1], scanned: Number(found[2]) }
}

/** Returns a plan in words. */
export function describePlan({ index, scanned }: QueryPlan): string {
  const documents = `${formatCount(scanned)} document${scanned === 1 ? '' : 's'}`
  return index === undefined
    ? `Scanned ${documents}.`
    : `Read ${documents} using the index ${index}.`
}

/** Returns the fields of an index that would serve a query; empty if none would. */
export function adviseFields(
  conditions: readonly Condition[],
  sort: readonly SortField[],
): readonly string[] {
  const parts = conditions.map(partsOf)
  const of = (operators: readonly string[]) =>
    parts.filter(({ operator = '' }) => operators.includes(operator)).map(({ field }) => field)
  const equal = [...new Set(of(['eq', 'in']))]
  const [range] = of(['lt', 'lte', 'gt', 'gte', 'starts']).filter((field) => !equal.includes(field))
  const order = sort
    .filter(({ field }) => !equal.includes(field))
    .map(({ field, isDescending }) => ({ field, text: (isDescending ? '-' : '') + field }))
  if (range !== undefined && order[0]?.field !== range) return [...equal, range]
  // No index is needed for the order of ids.
  if (equal.length === 0 && range === undefined && order[0]?.field === 'id') return []
  return [...new Set([...equal, ...order.map(({ text }) => text)])]
}

/** The part of an index that cannot be changed. */
type IndexDefinition = Pick<DocumentIndex, 'fields' | 'unique'>

/**
 * Returns the name of a new index: `by-author-name-year`, with a number if it is taken. If an index
 * has the same definition, returns its name, so that retrying a request that got no response does
 * not create a second index.
 */
export function nameIndex(
  definition: IndexDefinition,
  indexes: readonly (IndexDefinition & Pick<DocumentIndex, 'name' | 'state'>)[],
): string {
  const same = findSameIndex(definition, indexes)
  if (same !== undefined) return same.name
  const { fields } = definition
  const taken = indexes.map(({ name }) => name)
  const name = `by-${fields
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')}`
    .replace(/-+/g, '-')
    .slice(0, 56)
    .replace(/-$/, '')
  let candidate = name
  for (let number = 2; taken.includes(candidate); number++) candidate = `${name}-${number}`
  return candidate
}

/** Returns the index with the same definition; a failed one only if there is no other. */
export function findSameIndex<Index extends IndexDefinition & Pick<DocumentIndex, 'state'>>(
  { fields, unique }: IndexDefinition,
  indexes: readonly Index[],
): Index | undefined {
  const same = indexes.filter((index) => index.unique === unique && hasFields(index, fields))
  return same.find(({ state }) => state !== 'failed') ?? same[0]
}

/** Returns the index with these fields, unless it has failed: such an index serves no query. */
export const findIndex = (
  indexes: readonly DocumentIndex[],
  fields: readonly string[],
): DocumentIndex | undefined =>
  indexes.find((index) => index.state !== 'failed' && hasFields(index, fields))

const hasFields = (index: Pick<DocumentIndex, 'fields'>, fields: readonly string[]) =>
  index.fields.join() === fields.join()
