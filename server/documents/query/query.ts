import { CSV_SEPARATORS, type CsvSeparator, isCsvSeparator } from '../../contract/import.ts'
import {
  type FieldPath,
  type FilterName,
  type ListedField,
  parseFieldList,
  parseFilterName,
} from '../../contract/query/field-path.ts'
import { adviseFilter, hasUnencodedPlus } from '../../contract/query/foreign-filter.ts'
import {
  adviseParameter,
  isQueryParameter,
  parseAfter,
  parsePageLimit,
  type QueryParameter,
  singleValue,
} from '../../contract/query/query-parameter.ts'
import {
  badParameter,
  type Condition,
  createMatcher,
  type Filter,
  filterOf,
  type Matcher,
  toCondition,
} from './filter.ts'
import { isIdOrder, type Position } from './order.ts'

/** A query of a collection, as its URL states it. */
export interface DocumentQuery {
  readonly conditions: readonly Condition[]
  /** Undefined if there are no conditions: every document matches. */
  readonly matches: Matcher | undefined
  /** The fields to order by, before the id. */
  readonly sort: readonly ListedField[]
  /** The fields to return besides `id`; undefined for whole documents. */
  readonly fields: readonly FieldPath[] | undefined
  /** See {@link namesRead}. */
  readonly reads: ReadonlySet<string>
  readonly limit: number
  /** The id after which the page begins; only in the ascending order of ids. */
  readonly after: string | undefined
  readonly cursor: string | undefined
}

/** A query for a page of documents. */
export interface PageQuery
  extends Pick<DocumentQuery, 'conditions' | 'matches' | 'sort' | 'fields' | 'reads' | 'limit'>,
    SkipsDamaged {
  /** The position after which the page begins. */
  readonly from: Position | undefined
  /** Whether to count all documents that match. */
  readonly count: boolean
}

/** A query that leaves out documents whose stored text is not JSON. */
export interface SkipsDamaged {
  /** Called with the id of each document that is left out, once or more. */
  readonly onDamaged?: ((id: string) => void) | undefined
}

/** Returns whether an index may serve a query: it has a filter, or is not in the order of ids. */
export const isPlanned = ({ matches, sort }: Pick<DocumentQuery, 'matches' | 'sort'>): boolean =>
  matches !== undefined || !isIdOrder(sort)

/** Maximum number of fields to sort by, and to select. */
const MAX_SORT_FIELDS = 8
const MAX_SELECTED_FIELDS = 50

/**
 * Parses the query of `GET /<collection>`.
 *
 * @throws Failure `bad-parameter`; its `field` names the parameter.
 */
export function parseDocumentQuery(query: URLSearchParams): DocumentQuery {
  const { conditions, parameters } = split(query)
  requireNoCsv(parameters)
  const selection = selectionOf(conditions, parameters)
  const [after, cursor] = [parameters.get('after'), parameters.get('cursor')]
  if (after !== undefined && (selection.sort.length > 0 || cursor !== undefined)) {
    throw badParameter(
      'after',
      'after applies to the ascending order of ids only. Use the URL in the Link header.',
    )
  }
  return {
    ...selection,
    limit: parsePageLimit(parameters.get('limit')),
    after: parseAfter(after),
    cursor,
  }
}

/** Formats of an export. `Accept` names NDJSON and CSV too. */
export const EXPORT_FORMATS = ['ndjson', 'csv', 'json'] as const

export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/**
 * Parses the parameter `export-as`; undefined if there is none.
 *
 * @throws Failure `bad-parameter`
 */
export function parseExportFormat(query: URLSearchParams): ExportFormat | undefined {
  const text = query.get('export-as')
  if (text === null) return undefined
  const format = EXPORT_FORMATS.find((each) => each === text)
  if (format !== undefined) return format
  throw badParameter('export-as', `export-as must be one of ${EXPORT_FORMATS.join(', ')}.`)
}

/** A query for all documents that match. */
export interface ExportQuery
  extends Omit<DocumentQuery, 'limit' | 'after' | 'cursor'>,
    SkipsDamaged {
  /** The separator of the cells of CSV. */
  readonly separator: CsvSeparator
  /** Whether CSV cells that a spreadsheet would evaluate are written unchanged. */
  readonly rawCells: boolean
}

/**
 * Parses the query of an export. Rejects parameters of pages, because an export is complete.
 *
 * @throws Failure `bad-parameter`
 */
export function parseExportQuery(query: URLSearchParams, format: ExportFormat): ExportQuery {
  const { conditions, parameters } = split(query)
  for (const name of ['limit', 'after', 'cursor'] as const) {
    if (!parameters.has(name)) continue
    throw badParameter(name, `An export contains every document that matches. Omit ${name}.`)
  }
  if (format !== 'csv') requireNoCsv(parameters)
  const separator = parameters.get('csv-separator') ?? 'comma'
  if (!isCsvSeparator(separator)) {
    const names = Object.keys(CSV_SEPARATORS).join(', ')
    throw badParameter('csv-separator', `csv-separator must be one of ${names}.`)
  }
  const cells = parameters.get('csv-cells')
  if (cells !== undefined && cells !== 'raw') {
    throw badParameter('csv-cells', 'csv-cells must be raw, or omitted.')
  }
  const selection = selectionOf(conditions, parameters)
  return { ...selection, separator, rawCells: cells === 'raw' }
}

/** @throws Failure `bad-parameter` for a parameter of CSV. */
function requireNoCsv(parameters: ReadonlyMap<QueryParameter, string>): void {
  for (const name of ['csv-separator', 'csv-cells'] as const) {
    if (!parameters.has(name)) continue
    throw badParameter(name, `${name} applies to exports as CSV only.`)
  }
}

function selectionOf(
  conditions: readonly Condition[],
  parameters: ReadonlyMap<QueryParameter, string>,
): Pick<DocumentQuery, 'conditions' | 'matches' | 'sort' | 'fields' | 'reads'> {
  const sort = significant(listOf(parameters, 'sort', MAX_SORT_FIELDS))
  const fields = parameters.has('fields')
    ? listOf(parameters, 'fields', MAX_SELECTED_FIELDS)
    : undefined
  if (fields?.some(({ isDescending }) => isDescending)) {
    throw badParameter('fields', 'fields takes names without a hyphen before them.')
  }
  return {
    conditions,
    matches: conditions.length === 0 ? undefined : createMatcher(conditions),
    sort,
    fields: fields?.map(({ path }) => path),
    reads: namesRead({ conditions, sort }),
  }
}

/** Returns the names of the top-level fields that a query parses, to match and sort documents. */
export function namesRead({
  conditions,
  sort,
}: Pick<DocumentQuery, 'conditions' | 'sort'>): ReadonlySet<string> {
  const names = new Set(['id'])
  for (const { path } of conditions) names.add(path[0] ?? '')
  for (const { path } of sort) names.add(path[0] ?? '')
  return names
}

/**
 * Returns the sort fields without redundant ones: fields after `id`, which is unique, and an
 * ascending `id`, which is the default order of equal documents.
 */
function significant(sort: readonly ListedField[]): readonly ListedField[] {
  const at = sort.findIndex(({ path: [name, ...rest] }) => name === 'id' && rest.length === 0)
  return at === -1 ? sort : sort.slice(0, sort[at]?.isDescending ? at + 1 : at)
}

/**
 * Parses the query of a change of all documents that match. Rejects parameters of pages: the
 * caller would expect the change of one page, but it would affect all documents.
 *
 * @throws Failure `bad-parameter`
 */
export function parseFilterQuery(query: URLSearchParams): Filter {
  const { conditions, parameters } = split(query)
  const [name] = parameters.keys()
  if (name !== undefined) {
    throw badParameter(
      name,
      `A change applies to every document that matches. Omit ${name}. Nothing was changed.`,
    )
  }
  createMatcher(conditions)
  requireOwnFilters(conditions)
  return filterOf(conditions)
}

/**
 * Rejects filters that match nothing because they have the form of another server, or that name a
 * field twice. Queries call it only if they find nothing: documents may have such fields.
 *
 * @throws Failure `bad-parameter`
 */
export function requireOwnFilters(conditions: readonly Condition[]): void {
  const equal = new Set<string>()
  for (const { name, field, operator, text } of conditions) {
    if (operator !== 'eq') continue
    const shown = name.slice(0, 64)
    if (equal.has(field)) {
      throw badParameter(
        name,
        `${JSON.stringify(shown)} is given more than once, and a document must match every filter. ` +
          'Write the values in one filter, such as author:in=ada,grace.',
      )
    }
    equal.add(field)
    if (parseFilterName(name).operator !== undefined) continue
    const ours = adviseFilter(name, text)
    if (ours === undefined) continue
    throw badParameter(
      name,
      `The filter ${JSON.stringify(shown)} has the form of another server. Write ${ours}. ` +
        `To compare a field of that name with that value, write ${shown}:eq=…`,
    )
  }
}

/** Separates the filters from the other parameters. */
function split(query: URLSearchParams): {
  readonly conditions: readonly Condition[]
  readonly parameters: ReadonlyMap<QueryParameter, string>
} {
  const conditions: Condition[] = []
  const parameters = new Map<QueryParameter, string>()
  for (const [name, value] of query) {
    if (isQueryParameter(name)) {
      singleValue(name, query.getAll(name))
      parameters.set(name, value)
    } else {
      const parsed = parseFilterName(name)
      requireFilter(name, parsed)
      if (hasUnencodedPlus(value)) {
        throw badParameter(
          name,
          `The time in ${JSON.stringify(name.slice(0, 64))} contains a space. Write %2B for a plus sign.`,
        )
      }
      conditions.push(toCondition(name, parsed, value))
    }
  }
  return { conditions, parameters }
}

/** Rejects names that are probably meant as a parameter. With an operator, a name is a filter. */
function requireFilter(name: string, { path, operator }: FilterName): void {
  if (operator !== undefined || path.length > 1) return
  const [field = ''] = path
  const advice = adviseParameter(field)
  if (advice === undefined) return
  const shown = field.slice(0, 64)
  throw badParameter(
    name,
    `There is no parameter ${JSON.stringify(shown)}. ${advice} ` +
      `To filter by a field of that name, write ${shown}:eq=…`,
  )
}

function listOf(
  parameters: ReadonlyMap<QueryParameter, string>,
  name: 'sort' | 'fields',
  max: number,
): ListedField[] {
  const text = parameters.get(name)
  if (text === undefined) return []
  if (text === '') throw badParameter(name, `${name} names no field.`)
  const list = parseFieldList(text, name)
  if (list.length <= max) return list
  throw badParameter(name, `${name} has ${list.length} fields. The maximum is ${max}.`)
}
