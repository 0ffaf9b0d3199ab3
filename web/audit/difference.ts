/** A key of what was before, what is after, or both; values as JSON text. */
export interface DifferenceLine {
  readonly key: string
  /** Undefined: there was none. */
  readonly before: string | undefined
  /** Undefined: there is none. */
  readonly after: string | undefined
  readonly changed: boolean
}

/** Stands for a value that is no object, which has no keys. */
const WHOLE = 'value'

/** What was before beside what is after, key by key in the order of both. */
export function difference(before: unknown, after: unknown): DifferenceLine[] {
  const [left, right] = [fields(before), fields(after)]
  return [...new Set([...left.keys(), ...right.keys()])].map((key) => {
    const line = { key, before: left.get(key), after: right.get(key) }
    return { ...line, changed: line.before !== line.after }
  })
}

function fields(value: unknown): ReadonlyMap<string, string> {
  if (value === null || value === undefined) return new Map()
  if (typeof value !== 'object' || Array.isArray(value)) return new Map([[WHOLE, show(value)]])
  return new Map(Object.entries(value).map(([key, field]) => [key, show(field)]))
}

/** On one line, with room to wrap. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const parts = Object.entries(value).map(
    ([key, field]) => `${JSON.stringify(key)}: ${show(field)}`,
  )
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
