import {
  type FieldPath,
  type ListedField,
  parseFieldList,
  parseFilterName,
} from '../../contract/field-path.ts'
import { parsePageLimit } from '../../contract/page-limit.ts'
import { badParameter, createMatcher, type Filter, type Matcher } from './filter.ts'

/** A query of a collection, as its URL states it. */
export interface DocumentQuery {
  readonly filter: Filter
  /** Undefined if there is no filter: every document matches. */
  readonly matches: Matcher | undefined
  /** The fields to order by, before the id. */
  readonly sort: readonly ListedField[]
  /** The fields to return besides `id`; undefined for whole documents. */
  readonly fields: readonly FieldPath[] | undefined
  readonly limit: number
  /** The id after which the page begins; only in id order. */
  readonly after: string | undefined
  readonly cursor: string | undefined
}

/** Parameters that are not filters. A filter by a field of that name needs an operator. */
const PARAMETERS = ['limit', 'after', 'sort', 'fields', 'cursor', 'export-as', 'csv-cells'] as const

type Parameter = (typeof PARAMETERS)[number]

const isParameter = (name: string): name is Parameter =>
  (PARAMETERS as readonly string[]).includes(name)

/**
 * Parameters of other servers, and what to use here. They are rejected, because a filter on a field
 * of that name would match nothing.
 */
const PARAMETER_ADVICE: Readonly<Record<string, string>> = {
  order: 'Use sort, such as sort=-year.',
  page: 'Use the URL in the Link header, or after.',
  offset: 'Use the URL in the Link header, or after.',
  skip: 'Use the URL in the Link header, or after.',
  perPage: 'Use limit.',
  per_page: 'Use limit.',
  select: 'Use fields, such as fields=title,author.name.',
  filter: 'Use a filter such as year:gte=2000.',
  where: 'Use a filter such as year:gte=2000.',
  q: 'Use a filter such as title:contains=sea.',
  count: 'Send the header Prefer: count=exact.',
}

/** Maximum number of fields to sort by, and to select. */
const MAX_SORT_FIELDS = 8
const MAX_SELECTED_FIELDS = 50

/**
 * Parses the query of `GET /<collection>`.
 *
 * @throws Failure `bad-parameter`; its `field` names the parameter.
 */
export function parseDocumentQuery(query: URLSearchParams): DocumentQuery {
  const { filter, given } = split(query)
  if (given.has('csv-cells'))
    throw badParameter('csv-cells', 'csv-cells applies to exports as CSV only.')
  const selection = selectionOf(filter, given)
  const [after, cursor] = [given.get('after'), given.get('cursor')]
  if (after !== undefined && (selection.sort.length > 0 || cursor !== undefined)) {
    throw badParameter(
      'after',
      'after applies to the order of ids only. Use the URL in the Link header.',
    )
  }
  return { ...selection, limit: parsePageLimit(given.get('limit')), after, cursor }
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
  const given = query.get('export-as')
  if (given === null) return undefined
  const format = EXPORT_FORMATS.find((each) => each === given)
  if (format !== undefined) return format
  throw badParameter('export-as', `export-as must be one of ${EXPORT_FORMATS.join(', ')}.`)
}

/** A query for all documents that match. */
export interface ExportQuery extends Omit<DocumentQuery, 'limit' | 'after' | 'cursor'> {
  /** Whether CSV cells that a spreadsheet would evaluate are written unchanged. */
  readonly rawCells: boolean
}

/**
 * Parses the query of an export. Rejects parameters of pages, because an export is complete.
 *
 * @throws Failure `bad-parameter`
 */
export function parseExportQuery(query: URLSearchParams): ExportQuery {
  const { filter, given } = split(query)
  for (const name of ['limit', 'after', 'cursor'] as const) {
    if (!given.has(name)) continue
    throw badParameter(name, `An export contains every document that matches. Omit ${name}.`)
  }
  const cells = given.get('csv-cells')
  if (cells !== undefined && cells !== 'raw') {
    throw badParameter('csv-cells', 'csv-cells must be raw, or omitted.')
  }
  return { ...selectionOf(filter, given), rawCells: cells === 'raw' }
}

function selectionOf(
  filter: Filter,
  given: ReadonlyMap<Parameter, string>,
): Pick<DocumentQuery, 'filter' | 'matches' | 'sort' | 'fields'> {
  const sort = listOf(given, 'sort', MAX_SORT_FIELDS)
  const fields = given.has('fields') ? listOf(given, 'fields', MAX_SELECTED_FIELDS) : undefined
  if (fields?.some(({ isDescending }) => isDescending)) {
    throw badParameter('fields', 'fields takes names without a hyphen before them.')
  }
  return {
    filter,
    matches: filter.length === 0 ? undefined : createMatcher(filter),
    sort,
    fields: fields?.map(({ path }) => path),
  }
}

/**
 * Parses the query of a change of all documents that match. Rejects parameters of pages: the
 * caller would expect the change of one page, but it would affect all documents.
 *
 * @throws Failure `bad-parameter`
 */
export function parseFilterQuery(query: URLSearchParams): Filter {
  const { filter, given } = split(query)
  const [name] = given.keys()
  if (name !== undefined) {
    throw badParameter(
      name,
      `A change applies to every document that matches. Omit ${name}. Nothing was changed.`,
    )
  }
  createMatcher(filter)
  return filter
}

/** Separates the filters from the other parameters. */
function split(query: URLSearchParams): {
  readonly filter: Filter
  readonly given: ReadonlyMap<Parameter, string>
} {
  const filter: (readonly [string, string])[] = []
  const given = new Map<Parameter, string>()
  for (const [name, value] of query) {
    if (isParameter(name)) {
      if (given.has(name)) throw badParameter(name, `${name} is given more than once.`)
      given.set(name, value)
    } else {
      requireFilter(name)
      filter.push([name, value])
    }
  }
  return { filter, given }
}

/** Rejects names that are probably meant as a parameter. With an operator, a name is a filter. */
function requireFilter(name: string): void {
  const { path, operator } = parseFilterName(name)
  if (operator !== undefined || path.length > 1) return
  const [field = ''] = path
  const advice = Object.hasOwn(PARAMETER_ADVICE, field) ? PARAMETER_ADVICE[field] : undefined
  const similar = PARAMETERS.find((each) => isMisspelling(field, each))
  if (advice === undefined && similar === undefined && !field.startsWith('_')) return
  const shown = field.slice(0, 64)
  throw badParameter(
    name,
    `There is no parameter ${JSON.stringify(shown)}. ` +
      `${advice ?? (similar === undefined ? `Parameters are ${PARAMETERS.join(', ')}.` : `Did you mean ${similar}?`)} ` +
      `To filter by a field of that name, write ${shown}:eq=…`,
  )
}

/** Returns whether a name is a parameter with one letter too many or too few, or two swapped. */
function isMisspelling(name: string, parameter: string): boolean {
  let begin = 0
  while (begin < name.length && name[begin] === parameter[begin]) begin++
  let [end, parameterEnd] = [name.length, parameter.length]
  while (Math.min(end, parameterEnd) > begin && name[end - 1] === parameter[parameterEnd - 1]) {
    end--
    parameterEnd--
  }
  const [one, other] = [name.slice(begin, end), parameter.slice(begin, parameterEnd)]
  if (one.length + other.length === 1) return true
  return one.length === 2 && other.length === 2 && one[0] === other[1] && one[1] === other[0]
}

function listOf(
  given: ReadonlyMap<Parameter, string>,
  name: 'sort' | 'fields',
  most: number,
): ListedField[] {
  const text = given.get(name)
  if (text === undefined) return []
  if (text === '') throw badParameter(name, `${name} names no field.`)
  const list = parseFieldList(text, name)
  if (list.length <= most) return list
  throw badParameter(name, `${name} has ${list.length} fields. The maximum is ${most}.`)
}
