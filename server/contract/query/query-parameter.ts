import * as z from 'zod/mini'
import { Failure } from '../../failure.ts'
import { PAGE } from '../document.ts'
import { isMisspelling } from '../misspelling.ts'

/**
 * Parameters of a query of documents that are not filters. A filter by a field of that name needs an
 * operator.
 */
const QUERY_PARAMETERS = [
  'limit',
  'after',
  'sort',
  'fields',
  'cursor',
  'export-as',
  'csv-separator',
  'csv-cells',
] as const

export type QueryParameter = (typeof QUERY_PARAMETERS)[number]

export const isQueryParameter = (name: string): name is QueryParameter =>
  (QUERY_PARAMETERS as readonly string[]).includes(name)

/** Parameters of other servers, and what to use here. */
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

/** Matches names of filters of other servers: `year[gte]`, and `year>` of `year>=2000`. */
const FOREIGN_FILTER = /[<>]|[\]!]$/

/**
 * Returns what to use instead of a parameter that does not exist but that a query probably means;
 * undefined for other names. Such names are rejected, because a filter by a field of that name would
 * match nothing.
 *
 * @param field the unescaped name of a field of documents that is not nested.
 */
export function adviseParameter(field: string): string | undefined {
  if (Object.hasOwn(PARAMETER_ADVICE, field)) return PARAMETER_ADVICE[field]
  const lower = field.toLowerCase()
  const similar = QUERY_PARAMETERS.find((each) => lower === each || isMisspelling(field, each))
  if (similar !== undefined) return `Did you mean ${similar}?`
  if (FOREIGN_FILTER.test(field)) return 'Use a filter such as year:gte=2000.'
  return field.startsWith('_') ? `Parameters are ${QUERY_PARAMETERS.join(', ')}.` : undefined
}

/** Parses a query parameter that is a whole number, as `/_api/openapi.json` describes it. */
export const wholeNumber = (least: number, greatest: number) => {
  const rule = `a whole number from ${least} to ${greatest}`
  return z
    .pipe(
      z.string().check(z.regex(/^[0-9]{1,16}$/, rule)),
      z.pipe(z.transform(Number), z.number().check(z.gte(least, rule), z.lte(greatest, rule))),
    )
    .check(z.meta({ type: 'integer', minimum: least, maximum: greatest, pattern: undefined }))
}

/**
 * Returns the value of a query parameter that a request can have once; undefined if it has none.
 *
 * @param values all values of the parameter in the request.
 * @throws Failure `bad-parameter` if there are several.
 */
export function singleValue(name: string, values: readonly string[]): string | undefined {
  if (values.length <= 1) return values[0]
  throw new Failure('bad-parameter', `${name} is given more than once.`, { field: name })
}

/**
 * Parses the parameter `limit` of a page of documents.
 *
 * @throws Failure `bad-parameter`
 */
export function parsePageLimit(text: string | undefined): number {
  if (text === undefined) return PAGE.default
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= PAGE.max) return limit
  throw new Failure('bad-parameter', `limit must be a whole number from 1 to ${PAGE.max}.`, {
    field: 'limit',
  })
}

/**
 * Parses the parameter `after` of a page of documents: returns its part before U+0000, which
 * PostgreSQL rejects. No id contains it, so the same ids are after the text and after this part.
 */
export const parseAfter = (text: string | undefined): string | undefined => text?.split('\0', 1)[0]
