import fc from 'fast-check'
import { CONTAINS_LENGTH } from '../../contract/document.ts'
import type { Json } from '../../contract/json/json.ts'
import { printFieldPath } from '../../contract/query/field-path.ts'
import { KEY_BYTES } from '../indexes/index-key.ts'

// Generated documents, queries and indexes. Few names and values, so that queries find documents.

export type Document = { readonly [key: string]: Json }

type Path = readonly string[]

const NAMES = ['a', 'b', 'a.b', 'c:d', ''] as const
/** Longer than a key of an index. */
const LONG = 'x'.repeat(KEY_BYTES)
const plain = [null, true, false, 0, 1, -1, 1e308, -1e308, 0.1] as const
// A document cannot contain the number -0.
const likeOthers = ['0', '-0', '1', 'true', ''] as const
/** The ids of the first documents. */
const ids = ['0s', '1s'] as const
const texts = ['a', 'ab', 'é', '\uffff', '\u{1f600}', '\u{1f600}a', 'b,c', 'b\\c'] as const
const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Json>(...plain, ...likeOthers, ...ids) },
  { weight: 3, arbitrary: fc.constantFrom<Json>(...texts) },
  { weight: 1, arbitrary: fc.constantFrom<Json>(LONG, `${LONG}a`, `${LONG}b`) },
  fc.integer({ min: -3, max: 3 }),
)
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 2 }),
  fc.record({ a: scalar, b: scalar }, { requiredKeys: [] }),
)

/** The fields of a document without its id. */
export const contents = fc.dictionary(fc.constantFrom(...NAMES), value, { noNullPrototype: true })

/** A merge patch whose values replace those of the fields; null removes a field. */
export const patch = fc.dictionary(fc.constantFrom(...NAMES), scalar, { noNullPrototype: true })

const path: fc.Arbitrary<Path> = fc.oneof(
  fc.constantFrom(...NAMES, 'id').map((name) => [name]),
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('a', 'b')),
)
const text = scalar.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))

/** A condition of a filter; several texts are the values of `in`. */
export interface Condition {
  readonly path: Path
  readonly operator: string
  readonly texts: readonly string[]
}

const condition: fc.Arbitrary<Condition> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        path,
        operator: fc.constantFrom('eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'starts', 'contains'),
        texts: fc.tuple(text),
      })
      .filter(({ operator, texts: [text] }) => operator !== 'contains' || isShort(text)),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      path,
      operator: fc.constant('in'),
      texts: fc.array(text, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      path,
      operator: fc.constant('exists'),
      texts: fc.tuple(fc.constantFrom('true', 'false')),
    }),
  },
)

const isShort = (text: string) => text.length <= CONTAINS_LENGTH

/** The conditions of a filter. */
export const conditions = fc.array(condition, { maxLength: 2 })

/** A field to sort by. */
interface SortField {
  readonly path: Path
  readonly isDescending: boolean
}

const sortField: fc.Arbitrary<SortField> = fc.record({ path, isDescending: fc.boolean() })

export const query = fc.record({
  conditions,
  sort: fc.oneof(
    // The list of the empty name alone has no text.
    {
      weight: 4,
      arbitrary: fc.array(sortField, { maxLength: 2 }).filter((list) => printList(list) !== ''),
    },
    { weight: 1, arbitrary: fc.constant<SortField[]>([{ path: ['id'], isDescending: true }]) },
  ),
  fields: fc.option(
    fc
      .array(path, { minLength: 1, maxLength: 3 })
      .filter((list) => printList(list.map((each) => ({ path: each }))) !== ''),
    { nil: undefined },
  ),
  limit: fc.integer({ min: 1, max: 7 }),
  count: fc.boolean(),
  /** How many conditions have their field in an index, and whether it has those of the order. */
  served: fc.nat({ max: 2 }),
  servesOrder: fc.boolean(),
  isReversed: fc.boolean(),
})
export type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

/** Documents, and a query that reads them in five counted pages and has an index that serves it. */
export const PAGED = {
  contents: Array.from({ length: 9 }, (_, at) => ({ a: at % 4 })),
  query: {
    conditions: [],
    sort: [{ path: ['a'], isDescending: false }],
    fields: undefined,
    limit: 2,
    count: true,
    served: 0,
    servesOrder: true,
    isReversed: false,
  } satisfies Query,
}

/** The fields of an index. */
export const indexFields = fc.uniqueArray(sortField, {
  minLength: 1,
  maxLength: 3,
  selector: ({ path }) => printFieldPath(path),
})

/** Returns the fields of an index that serves a query, or parts of it. */
export const fieldsServing = ({ conditions, sort, served, servesOrder, isReversed }: Query) => [
  ...conditions.slice(0, served).map((each) => ({ path: each.path, isDescending: false })),
  ...(servesOrder
    ? sort.map((each) => ({ ...each, isDescending: each.isDescending !== isReversed }))
    : []),
]

/** Returns the texts of distinct fields, as the definition of an index contains them. */
export function printIndexFields(fields: readonly SortField[]): string[] {
  const distinct = new Map(fields.toReversed().map((each) => [printPath(each.path), each]))
  // The empty name has no text.
  return [...distinct.values()]
    .toReversed()
    .map(printField)
    .filter((each) => each !== '')
}

const printPath = (path: Path) => path.map((name) => name.replace(/[.,:\\]/g, '\\$&')).join('.')

const printField = ({ path, isDescending = false }: Partial<SortField> & { readonly path: Path }) =>
  (isDescending ? '-' : '') + printPath(path)

const printList = (list: readonly Parameters<typeof printField>[0][]) =>
  list.length === 0 ? undefined : list.map(printField).join(',')

/** Returns the parameters of a query, without its limit. */
export function parametersOf({
  conditions,
  sort = [],
  fields = [],
}: Pick<Query, 'conditions'> & Partial<Query>): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const { path, operator, texts } of conditions) {
    const isList = operator === 'in'
    const values = texts.map((each) => (isList ? each.replace(/[\\,]/g, '\\$&') : each))
    parameters.append(`${printPath(path)}:${operator}`, values.join(','))
  }
  const lists = { sort: printList(sort), fields: printList(fields.map((path) => ({ path }))) }
  for (const [name, list] of Object.entries(lists)) {
    if (list !== undefined) parameters.set(name, list)
  }
  return parameters
}
