import type { Json } from '../../contract/json/json.ts'
import type { Condition, Document, Query } from './queries.testing.ts'

// A plain implementation of queries, which shares no code with the server.

/** Returns the documents that match a query in its order, with the fields that it selects. */
export const findByReference = (
  documents: Iterable<Document>,
  { conditions, sort, fields }: Pick<Query, 'conditions' | 'sort' | 'fields'>,
): Document[] =>
  [...documents]
    .filter((each) => matchesAll(each, conditions))
    .sort((one, other) => {
      for (const { path, isDescending } of sort) {
        const difference = compare(valueAt(one, path), valueAt(other, path))
        if (difference !== 0) return isDescending ? -difference : difference
      }
      return compareByCodePoints(one.id as string, other.id as string)
    })
    .map((each) => (fields === undefined ? each : select(each, [['id'], ...fields])))

/** Returns whether a document matches all conditions of a filter. */
export const matchesAll = (document: Document, conditions: readonly Condition[]): boolean =>
  conditions.every((each) => matches(document, each))

function matches(document: Document, { path, operator, texts }: Condition): boolean {
  const value = valueAt(document, path)
  const [text = ''] = texts
  switch (operator) {
    case 'eq':
      return equals(value, text)
    case 'ne':
      return !equals(value, text)
    case 'in':
      return texts.some((each) => equals(value, each))
    case 'exists':
      return String(value !== undefined) === text
    case 'starts':
      return typeof value === 'string' && value.startsWith(text)
    case 'contains':
      return typeof value === 'string'
        ? value.includes(text)
        : Array.isArray(value) && value.some((each) => equals(each, text))
    default: {
      const compared = compareWithText(value, text)
      if (compared === undefined) return false
      if (compared === 0) return operator.endsWith('e')
      return operator.startsWith(compared < 0 ? 'l' : 'g')
    }
  }
}

/** Returns a document with a patch whose values are not objects. */
export const patchByReference = (document: Document, patch: Document): Document =>
  Object.fromEntries(
    Object.entries({ ...document, ...patch }).filter(([name]) => patch[name] !== null),
  )

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const valueAt = (document: Json, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (value, name) =>
      isObject(value) ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined,
    document,
  )

const equals = (value: Json | undefined, text: string) =>
  typeof value === 'string' ? value === text : JSON.stringify(value) === text

function compareWithText(value: Json | undefined, text: string): number | undefined {
  if (typeof value === 'string') return compareByCodePoints(value, text)
  const isNumber = /^-?[0-9.]+(e[+-]?[0-9]+)?$/.test(text)
  return typeof value === 'number' && isNumber ? Math.sign(value - Number(text)) : undefined
}

const rank = (value: Json | undefined) =>
  value === undefined
    ? 0
    : value === null
      ? 1
      : (['boolean', 'number', 'string', 'object'] as string[]).indexOf(typeof value) + 2

function compare(one: Json | undefined, other: Json | undefined): number {
  if (rank(one) !== rank(other)) return rank(one) - rank(other)
  if (typeof one === 'string') return compareByCodePoints(one, other as string)
  if (typeof one === 'number' || typeof one === 'boolean') return Number(one) - Number(other)
  return 0
}

const compareByCodePoints = (one: string, other: string) =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

/** Keeps the values at these paths, and the objects that contain them. */
function select(document: Document, paths: readonly (readonly string[])[]): Document {
  const kept = Object.entries(document).flatMap(([name, value]): [string, Json][] => {
    const inner = paths.filter(([first]) => first === name).map(([, ...rest]) => rest)
    if (inner.some(({ length }) => length === 0)) return [[name, value]]
    const selected = isObject(value) ? select(value, inner) : {}
    return Object.keys(selected).length > 0 ? [[name, selected as Json]] : []
  })
  return Object.fromEntries(kept)
}
