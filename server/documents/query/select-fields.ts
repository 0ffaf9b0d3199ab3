import type { Json } from '../../contract/json/json.ts'
import { printJson } from '../../contract/json/strict-json.ts'
import type { FieldPath } from '../../contract/query/field-path.ts'

type JsonObject = { [key: string]: Json }

/** A tree of the names of selected fields; null selects the whole value. */
type Selection = Map<string, Selection | null>

/**
 * Returns a function that keeps the selected fields of a document, in the document's own order and
 * nesting. `id` is always kept.
 */
export function createFieldSelector(paths: readonly FieldPath[]): (document: Json) => Json {
  const selection: Selection = new Map([['id', null]])
  for (const path of paths) add(selection, path)
  return (document) => select(document as JsonObject, selection)
}

/** Adds a path, which may have thousands of names. */
function add(selection: Selection, path: FieldPath): void {
  let current = selection
  for (const [at, name] of path.entries()) {
    const inner = current.get(name)
    if (inner === null) return
    const next = at === path.length - 1 ? null : (inner ?? new Map<string, Selection | null>())
    current.set(name, next)
    if (next !== null) current = next
  }
}

function select(document: JsonObject, selection: Selection): JsonObject {
  const entries: [string, Json][] = []
  for (const [name, value] of Object.entries(document)) {
    const inner = selection.get(name)
    if (inner === undefined) continue
    if (inner === null) {
      entries.push([name, value])
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const selected = select(value, inner)
      if (Object.keys(selected).length > 0) entries.push([name, selected])
    }
  }
  // Not an object literal: `__proto__` is a field like any other.
  return Object.fromEntries(entries)
}

/** Returns the JSON to return for a document: its selected fields, or all of it. */
export function createDocumentPrinter(
  fields: readonly FieldPath[] | undefined,
): (body: string, parsed: Json) => string {
  if (fields === undefined) return (body) => body
  const select = createFieldSelector(fields)
  return (_, parsed) => printJson(select(parsed))
}
