import { setImmediate as nextTurn } from 'node:timers/promises'
import { TIME_SLICE } from '../../concurrency/turns.ts'
import { CONTAINS_LENGTH, FILTER_FIELDS } from '../../contract/document.ts'
import type { Json } from '../../contract/json/json.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { printJson } from '../../contract/json/strict-json.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import {
  type FieldPath,
  type FilterName,
  parseFilterName,
  printFieldPath,
  splitValues,
  valueAt,
} from '../../contract/query/field-path.ts'
import { Failure } from '../../failure.ts'

/** Query parameters that a document must match, such as `['year:gte', '2000']`. */
export type Filter = readonly (readonly [name: string, value: string])[]

/** A parsed parameter of a {@link Filter}. */
export interface Condition {
  /** The name of the parameter. */
  readonly name: string
  readonly path: FieldPath
  /** The path as `printFieldPath` prints it. */
  readonly field: string
  readonly operator: Operator
  readonly text: string
}

/**
 * Returns whether a parsed document matches a filter. The result is a promise if a large document
 * took longer than {@link TIME_SLICE}: then other requests run between two conditions.
 */
export type Matcher = (document: Json) => boolean | Promise<boolean>

/** Returns whether the value of a field matches; undefined if the document does not have it. */
type Test = (value: Json | undefined) => boolean

/**
 * The operators of filters. A value equals a text if it is that string, or any other value whose
 * JSON is that text. Comparisons by order match numbers with numbers and strings with strings.
 */
const operators = {
  eq: equals,
  ne: (text) => not(equals(text)),
  lt: (text) => compares(text, (order) => order < 0),
  lte: (text) => compares(text, (order) => order <= 0),
  gt: (text) => compares(text, (order) => order > 0),
  gte: (text) => compares(text, (order) => order >= 0),
  in(text) {
    const texts = new Set(splitValues(text))
    const hasComposite = texts.values().some((each) => isComposite(parseExactly(each)))
    return (value) => {
      if (typeof value === 'string') return texts.has(value)
      if (!isComposite(value)) return value !== undefined && texts.has(String(value))
      // Print the value once: comparing it with each text would read a large object many times.
      return hasComposite && texts.has(printJson(value))
    }
  },
  exists(text, name) {
    if (text !== 'true' && text !== 'false') {
      throw badParameter(name, `${quote(name)} must be true or false.`)
    }
    return (value) => (value !== undefined) === (text === 'true')
  },
  starts: (text) => (value) => typeof value === 'string' && value.startsWith(text),
  contains(text, name) {
    if (text.length > CONTAINS_LENGTH) {
      throw badParameter(name, `${quote(name)} can have at most ${CONTAINS_LENGTH} characters.`)
    }
    const matches = equals(text)
    return (value) =>
      typeof value === 'string' ? value.includes(text) : Array.isArray(value) && value.some(matches)
  },
} as const satisfies Record<string, (text: string, name: string) => Test>

export type Operator = keyof typeof operators

/** The operators of filters, as the parameters name them. */
export const OPERATORS = Object.keys(operators) as readonly Operator[]

const isOperator = (name: string): name is Operator => Object.hasOwn(operators, name)

/** @throws Failure `bad-parameter` for an unknown operator, or a backslash that escapes nothing. */
export const parseFilter = (filter: Filter): Condition[] =>
  filter.map(([name, text]) => toCondition(name, parseFilterName(name), text))

/** Returns the parameters that conditions were parsed from. */
export const filterOf = (conditions: readonly Condition[]): Filter =>
  conditions.map(({ name, text }) => [name, text])

/** @throws Failure `bad-parameter` for an unknown operator. */
export function toCondition(
  name: string,
  { path, operator = 'eq' }: FilterName,
  text: string,
): Condition {
  if (isOperator(operator)) return { name, path, field: printFieldPath(path), operator, text }
  throw badParameter(
    name,
    `${quote(operator)} is not an operator. Operators are ${OPERATORS.join(', ')}. ` +
      'Write \\: for a colon that is part of a name.',
  )
}

/** Returns the texts that a condition of equality accepts; undefined for other operators. */
export function equalTexts({ operator, text }: Condition): readonly string[] | undefined {
  if (operator === 'eq') return [text]
  return operator === 'in' ? [...new Set(splitValues(text))] : undefined
}

/**
 * Compiles conditions into a test of documents. A document must match all of them.
 *
 * @param now returns the time of a monotonic clock, ms.
 * @throws Failure `bad-parameter` for a value that its operator does not take, or more than
 * {@link FILTER_FIELDS} conditions.
 */
export function createMatcher(
  conditions: readonly Condition[],
  now = () => performance.now(),
): Matcher {
  if (conditions.length > FILTER_FIELDS) {
    throw new Failure(
      'bad-parameter',
      `The query has ${conditions.length} filters. The maximum is ${FILTER_FIELDS}.`,
      { field: conditions[FILTER_FIELDS]?.name },
    )
  }
  const tests = conditions.map(({ path, operator, text, name }): readonly [FieldPath, Test] => [
    path,
    operators[operator](text, name),
  ])

  function evaluate(document: Json, from: number): boolean | Promise<boolean> {
    const begun = now()
    for (let at = from; at < tests.length; at++) {
      if (at > from && now() - begun > TIME_SLICE)
        return nextTurn().then(() => evaluate(document, at))
      const [path, test] = tests[at] as (typeof tests)[number]
      if (!test(valueAt(document, path))) return false
    }
    return true
  }
  return (document) => evaluate(document, 0)
}

function equals(text: string): Test {
  const other = parseExactly(text)
  return (value) => {
    if (typeof value === 'string') return value === text
    return value !== undefined && other !== undefined && isSame(value, other)
  }
}

/** Returns the value other than a string whose JSON is exactly this text; undefined if none. */
export function parseExactly(text: string): Json | undefined {
  // Throwing an exception would take longer than the rest of the query.
  if (!/^(?:true|false|null|-?[0-9]|[[{])/.test(text)) return undefined
  try {
    const value = parseJson(text)
    return typeof value !== 'string' && printJson(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

const isComposite = (value: Json | undefined): value is Composite =>
  typeof value === 'object' && value !== null

type Composite = Json[] | { [key: string]: Json }

/** Returns whether two values have the same JSON. The cost depends on the smaller one only. */
function isSame(one: Json, other: Json): boolean {
  if (!isComposite(one) || !isComposite(other)) return one === other
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, at) => isSame(each, other[at] as Json))
    )
  }
  // Reads at most one key more of the larger object than the smaller one has.
  const keys = Object.keys(other)
  let at = 0
  for (const key in one) {
    if (key !== keys[at++] || !isSame(one[key] as Json, other[key] as Json)) return false
  }
  return at === keys.length
}

const not =
  (test: Test): Test =>
  (value) =>
    !test(value)

function compares(text: string, accepts: (order: number) => boolean): Test {
  const number = toNumber(text)
  return (value) => {
    if (typeof value === 'string') return accepts(compareCodePoints(value, text))
    return typeof value === 'number' && number !== undefined && accepts(value - number)
  }
}

/** Returns the number that a JSON text represents; undefined if it is not a finite number. */
export function toNumber(text: string): number | undefined {
  const isNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)
  const number = isNumber ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : undefined
}

const quote = (text: string) => JSON.stringify(text.slice(0, 64))

export const badParameter = (field: string, message: string): Failure =>
  new Failure('bad-parameter', message, { field })

/**
 * Texts that the stored body of each document that matches contains: at least one of each group.
 * Other documents may contain them too, so those that the store finds by them are still matched.
 */
export type RequiredTexts = readonly (readonly string[])[]

/**
 * Maximum number of texts of a query, and their length, characters. SQLite searches each of them in
 * every body in the thread of the event loop, at worst with this many comparisons for each byte.
 */
const LIMITS = { texts: 8, length: 64 } as const

/** Returns texts that documents need to match all conditions. Bodies are printed by `printJson`. */
export function requiredTexts(conditions: readonly Condition[]): RequiredTexts {
  const groups: (readonly string[])[] = []
  let left: number = LIMITS.texts
  for (const condition of conditions) {
    const texts = textsOf(condition)?.map(beginOf)
    if (texts === undefined || texts.length > left) continue
    left -= texts.length
    groups.push(texts)
  }
  return groups
}

/** Returns the texts that a condition needs; undefined if documents match it without a text. */
function textsOf(condition: Condition): readonly string[] | undefined {
  const { operator, path, text } = condition
  const member = `${JSON.stringify(path.at(-1))}:`
  switch (operator) {
    case 'ne':
      return undefined
    case 'exists':
      return text === 'true' ? [member] : undefined
    case 'starts':
      return [`${member}${JSON.stringify(text).slice(0, -1)}`]
    case 'contains':
      return text === '' ? [member] : [JSON.stringify(text).slice(1, -1), ...exactJson(text)]
    default: {
      const texts = equalTexts(condition)?.flatMap((value) =>
        [JSON.stringify(value), ...exactJson(value)].map((printed) => `${member}${printed}`),
      )
      return texts === undefined || texts.length > LIMITS.texts ? [member] : texts
    }
  }
}

/** Returns the JSON of the value other than a string that equals a text, if there is one. */
const exactJson = (text: string): readonly string[] =>
  parseExactly(text) === undefined ? [] : [text]

/** Returns the beginning of a text that is long, without half of a surrogate pair. */
function beginOf(text: string): string {
  const begin = text.slice(0, LIMITS.length)
  return begin.isWellFormed() ? begin : begin.slice(0, -1)
}
