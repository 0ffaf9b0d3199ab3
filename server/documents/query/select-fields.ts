import { OPEN_OBJECT } from '../../contract/json/json.ts'
import type { FieldPath } from '../../contract/query/field-path.ts'
import { endOfValue, ifReadable, readFields } from '../read-fields.ts'

/** A tree of the names of selected fields; null selects the whole value. */
type Selection = Map<string, Selection | null>

/**
 * Creates a function that reduces the JSON of a document to the selected fields, in the document's
 * own order and nesting. `id` is always kept. Values are copied, not parsed.
 */
export function createFieldSelector(paths: readonly FieldPath[]): (body: string) => string {
  const selection: Selection = new Map([['id', null]])
  for (const path of paths) add(selection, path)
  return (body) => select(body, 0, selection).selected
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

/** Returns the JSON of the selected fields of the object that begins here, and where it ends. */
function select(
  json: string,
  begin: number,
  selection: Selection,
): { readonly selected: string; readonly end: number } {
  let fields = ''
  const append = (text: string) => {
    fields += fields === '' ? text : `,${text}`
  }
  const end = readFields(json, begin, (name, field, value) => {
    const inner = selection.get(name)
    if (inner && json.charCodeAt(value) === OPEN_OBJECT) {
      const nested = select(json, value, inner)
      if (nested.selected !== '{}') append(json.slice(field, value) + nested.selected)
      return nested.end
    }
    const valueEnd = endOfValue(json, value)
    if (inner === null) append(json.slice(field, valueEnd))
    return valueEnd
  })
  return { selected: `{${fields}}`, end }
}

/**
 * Creates a function that reduces the JSON of a document to the selected fields; by default, all. It
 * returns undefined if fields are selected and the text is not JSON, because the disk is damaged.
 */
export function createDocumentPrinter(
  fields: readonly FieldPath[] | undefined,
): (body: string) => string | undefined {
  if (fields === undefined) return (body) => body
  const selectFields = createFieldSelector(fields)
  return (body) => ifReadable(() => selectFields(body))
}
