import type { DocumentFields } from '../../../server/contract/document.ts'
import type { Json } from '../../../server/contract/json/json.ts'
import * as contract from '../../../server/contract/query/field-path.ts'

// A field is written as in the parameters of the API: `author.name`. A backslash precedes a dot,
// comma, colon, hyphen or backslash that is part of a name.

/** Splits text at its unescaped separators. The parts keep their backslashes. */
export function splitUnescaped(text: string, separator: string): string[] {
  const parts: string[] = []
  let part = ''
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\') part += character + text.charAt(++at)
    else if (character === separator) {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...parts, part]
}

/** Returns the names that lead to a field. */
export const namesOf = (field: string): string[] =>
  splitUnescaped(field, '.').map((name) => name.replace(/\\(.)/gs, '$1'))

/**
 * Returns a field as users read it: the names without backslashes, such as `author.name`. A name
 * that would look like several is quoted: `"a.b"`.
 */
export const fieldLabel = (field: string): string =>
  namesOf(field)
    .map((name) => (/[."]|^\s|\s$|^$/.test(name) ? JSON.stringify(name) : name))
    .join('.')

/** Returns a typed field. Spaces around it are ignored, unless they are part of a known field. */
export const parseField = (typed: string, known: readonly string[]): string =>
  known.includes(typed) ? typed : typed.trim()

/** Returns the value of a field; undefined if the document does not have it. */
export const valueAt = (document: DocumentFields, field: string): unknown =>
  contract.valueAt(document as Json, namesOf(field))

/** Objects nested deeper are not searched for fields. */
const DEPTH = 3
/** Maximum number of fields to return. */
const FIELDS = 200

/** Returns the fields that documents have besides `id`, in the order in which they appear. */
export function fieldsOf(documents: readonly DocumentFields[]): string[] {
  const found = new Set<string>()
  const add = (value: Readonly<Record<string, unknown>>, names: readonly string[]) => {
    for (const [name, inner] of Object.entries(value)) {
      if (found.size >= FIELDS) return
      const path = [...names, name]
      found.add(contract.printFieldPath(path))
      if (isObject(inner) && path.length < DEPTH) add(inner, path)
    }
  }
  for (const document of documents) add(document, [])
  found.delete('id')
  return [...found]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
