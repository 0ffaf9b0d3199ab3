import { Failure } from '../../failure.ts'
import type { Json } from '../json/json.ts'

/** The names that lead from a document to one of its fields, such as `['author', 'name']`. */
export type FieldPath = readonly string[]

/** A name in a query parameter, and the unescaped character that ended it; `''` at the end. */
interface Token {
  readonly name: string
  readonly end: string
  /** Index of the character after `end`. */
  readonly next: number
}

/** Characters that a backslash makes part of a name. */
const ESCAPABLE = '.,:-\\'

/**
 * Reads a name up to the next of the separators. A backslash makes the next character part of the
 * name.
 *
 * @param parameter the query parameter, for the error.
 * @throws Failure `bad-parameter` for a backslash before any other character.
 */
function readName(text: string, from: number, separators: string, parameter: string): Token {
  /** The name up to the last backslash. */
  let before = ''
  let begin = from
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at)
    if (separators.includes(character)) {
      return { name: before + text.slice(begin, at), end: character, next: at + 1 }
    }
    if (character !== '\\') continue
    before += text.slice(begin, at)
    at++
    begin = at
    const escaped = text.charAt(at)
    if (escaped === '' || !ESCAPABLE.includes(escaped)) throw badEscape(parameter)
  }
  return { name: before + text.slice(begin), end: '', next: text.length }
}

/** The name of a filter parameter: a field, and the text after the first unescaped colon. */
export interface FilterName {
  readonly path: FieldPath
  readonly operator: string | undefined
}

/**
 * Parses the name of a filter parameter, such as `author.name:eq`.
 *
 * @throws Failure `bad-parameter`
 */
export function parseFilterName(text: string): FilterName {
  const path: string[] = []
  let token: Token | undefined
  do {
    token = readName(text, token?.next ?? 0, '.:', text)
    path.push(token.name)
  } while (token.end === '.')
  return { path, operator: token.end === ':' ? text.slice(token.next) : undefined }
}

/** A field in a list, such as `-year`. */
export interface ListedField {
  readonly path: FieldPath
  /** Whether an unescaped `-` precedes it. */
  readonly isDescending: boolean
}

/**
 * Parses a list of fields, such as `-year,author.name`.
 *
 * @throws Failure `bad-parameter`
 */
export function parseFieldList(text: string, parameter: string): ListedField[] {
  const fields: ListedField[] = []
  let token: Token = { name: '', end: ',', next: 0 }
  while (token.end === ',') {
    const isDescending = text.charAt(token.next) === '-'
    if (isDescending) token = { ...token, next: token.next + 1 }
    const path: string[] = []
    do {
      token = readName(text, token.next, '.,:', parameter)
      path.push(token.name)
    } while (token.end === '.')
    if (token.end === ':') throw badDirection(parameter)
    fields.push({ path, isDescending })
  }
  return fields
}

/** Splits a list of values at its commas. In a value, `\,` is a comma and `\\` a backslash. */
export function splitValues(text: string): string[] {
  const values: string[] = []
  let value = ''
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const next = text.charAt(at + 1)
    if (character === '\\' && (next === ',' || next === '\\')) {
      value += next
      at++
    } else if (character === ',') {
      values.push(value)
      value = ''
    } else {
      value += character
    }
  }
  return [...values, value]
}

/** Returns a path as a query parameter names it. */
export function printFieldPath(path: FieldPath): string {
  const [name] = path
  // Fast path: most paths are one name without such characters.
  if (path.length === 1 && name !== undefined && !/[.,:\\]|^-/.test(name)) return name
  return path.map((each) => each.replace(/[.,:\\]|^-/g, '\\$&')).join('.')
}

/** Returns the value of a field, or undefined if the document does not have it. */
export function valueAt(document: Json, path: FieldPath): Json | undefined {
  let value: Json = document
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    if (!Object.hasOwn(value, name)) return undefined
    value = value[name] as Json
  }
  return value
}

const badDirection = (parameter: string) =>
  new Failure(
    'bad-parameter',
    `In ${JSON.stringify(parameter.slice(0, 64))}, a backslash must precede a colon that is part of a ` +
      'name. A hyphen before a name reverses its order, as in sort=-year.',
    { field: parameter },
  )

const badEscape = (parameter: string) =>
  new Failure(
    'bad-parameter',
    `In ${JSON.stringify(parameter.slice(0, 64))}, a backslash must precede the dot, comma, colon, ` +
      'hyphen or backslash that is part of a name.',
    { field: parameter },
  )
