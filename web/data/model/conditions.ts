import { splitValues } from '../../../server/contract/query/field-path.ts'
import { adviseFilter } from '../../../server/contract/query/foreign-filter.ts'
import {
  adviseParameter,
  isQueryParameter,
} from '../../../server/contract/query/query-parameter.ts'
import { fieldLabel, namesOf, splitUnescaped } from './field-path.ts'

/** A filter of the API: the name of its parameter, such as `year:gte`, and its value. */
export interface Condition {
  readonly name: string
  readonly value: string
}

/** The operators of filters in words, in the order of the picker. */
export const OPERATOR_WORDS = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  starts: 'starts with',
  in: 'is one of',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is greater than',
  gte: 'is at least',
  exists: 'exists',
} as const

export type Operator = keyof typeof OPERATOR_WORDS

const isOperator = (text: string): text is Operator => Object.hasOwn(OPERATOR_WORDS, text)

/** Returns whether the server takes a name without an operator for a parameter. */
function needsOperator(name: string): boolean {
  if (isQueryParameter(name)) return true
  if (splitUnescaped(name, ':').length > 1) return false
  const [field = '', ...nested] = namesOf(name)
  return nested.length === 0 && adviseParameter(field) !== undefined
}

/** Returns the condition that a field has a value, or compares with it. */
export function toCondition(field: string, operator: Operator, value: string): Condition {
  const isPlain =
    operator === 'eq' && !needsOperator(field) && adviseFilter(field, value) === undefined
  return { name: isPlain ? field : `${field}:${operator}`, value }
}

/** A condition split into its parts; `operator` is undefined if the server does not support it. */
export interface ConditionParts {
  readonly field: string
  readonly operator: Operator | undefined
  readonly value: string
}

export function partsOf({ name, value }: Condition): ConditionParts {
  const [field = '', ...rest] = splitUnescaped(name, ':')
  const operator = rest.length === 0 ? 'eq' : rest.join(':')
  return { field, operator: isOperator(operator) ? operator : undefined, value }
}

/**
 * Returns a condition in words: "year is at least 2000".
 *
 * @param show returns a field or value as it is shown. By default, it is unchanged.
 */
export function describeCondition(
  condition: Condition,
  show: (text: string) => string = (text) => text,
): string {
  const { field, operator, value } = partsOf(condition)
  if (operator === undefined) return show(`${condition.name}=${value}`)
  const label = show(fieldLabel(field))
  if (operator === 'exists' && value === 'true') return `${label} exists`
  if (operator === 'exists' && value === 'false') return `${label} does not exist`
  if (operator === 'in') {
    // Quoted, because a space at its edge would be invisible.
    const values = splitValues(value).map((each) => `“${show(each)}”`)
    return `${label} ${OPERATOR_WORDS.in} ${values.join(', ')}`
  }
  return `${label} ${OPERATOR_WORDS[operator]} ${value === '' ? '“”' : show(value)}`
}

/** Returns one of several values as it is typed. A backslash precedes a comma or an outer space. */
export const printValue = (value: string): string =>
  value.replace(/[\\,]/g, '\\$&').replace(/^\s|\s$/g, '\\$&')

/** Returns the value of an `in` condition as it is typed: `ada, grace`. */
export const printValues = (value: string): string => splitValues(value).map(printValue).join(', ')

/** Returns the value of an `in` condition from typed values. Spaces around commas are ignored. */
export const parseValues = (typed: string): string =>
  splitUnescaped(typed, ',').map(trimUnescaped).join(',')

function trimUnescaped(part: string): string {
  const characters = part.match(/\\.|./gs) ?? []
  const isText = (character: string) => character.trim() !== ''
  return characters
    .slice(Math.max(0, characters.findIndex(isText)), characters.findLastIndex(isText) + 1)
    .map((character) => (/^\\\s$/.test(character) ? character.charAt(1) : character))
    .join('')
}

/** The conditions of a filter as text, or why the text is not a filter. */
export type ParsedFilter =
  | { readonly conditions: readonly Condition[] }
  | { readonly error: string }

/**
 * Parses a filter such as `author=ada & year:gte=2000`. `%25`, `%26` and `%3D` are `%`, `&` and `=`
 * that are part of a name or value, and `%20` is a space at its end.
 */
export function parseFilter(text: string): ParsedFilter {
  const conditions: Condition[] = []
  if (trimFilter(text) === '') return { conditions }
  for (const part of text.split('&')) {
    const at = part.indexOf('=')
    const name = decode(part.slice(0, at))
    if (at < 0 || name === '') {
      return {
        error: 'Enter a field, “=” and a value, such as author=ada. Separate several with “&”.',
      }
    }
    const value = decode(part.slice(at + 1))
    conditions.push({ name: needsOperator(name) ? `${name}:eq` : name, value })
  }
  return { conditions }
}

/** Returns a filter as text that {@link parseFilter} accepts. */
export const formatFilter = (conditions: readonly Condition[]): string =>
  conditions
    .map(({ name, value }) => `${encode(name).replaceAll('=', '%3D')}=${encode(value)}`)
    .join('&')

/** Returns the conditions of a filter; none if the text is not a filter. */
export function conditionsOf(text: string | undefined): readonly Condition[] {
  const parsed = parseFilter(text ?? '')
  return 'conditions' in parsed ? parsed.conditions : []
}

const decode = (text: string) =>
  trimFilter(text).replace(/%(?:09|0A|0D|20|25|26|3D)/g, decodeURIComponent)

const encode = (text: string) =>
  text.replace(/%(?=09|0A|0D|20|25|26|3D)|&|^[ \t\r\n]|[ \t\r\n]$/g, encodeURIComponent)

/** Removes whitespace around text. Other spaces, such as no-break spaces, are part of a value. */
export function trimFilter(text: string): string {
  const isSpace = (at: number) => ' \t\r\n'.includes(text.charAt(at))
  let [begin, end] = [0, text.length]
  while (begin < end && isSpace(begin)) begin++
  while (begin < end && isSpace(end - 1)) end--
  return text.slice(begin, end)
}

/** Returns whether text is a filter, or there is none. */
export const isFilter = (text: string | undefined): boolean =>
  'conditions' in parseFilter(text ?? '')
