/** A key that exists before, after, or both. Values are JSON text. */
export interface DiffLine {
  readonly key: string
  /** Undefined if the key did not exist. */
  readonly before: string | undefined
  /** Undefined if the key no longer exists. */
  readonly after: string | undefined
  readonly changed: boolean
}

/** Key for a value that is not an object. */
const ROOT_KEY = 'value'

/** Compares two values key by key, in order of appearance. */
export function diffFields(before: unknown, after: unknown): DiffLine[] {
  const [left, right] = [fields(before), fields(after)]
  return [...new Set([...left.keys(), ...right.keys()])].map((key) => {
    const line = { key, before: left.get(key), after: right.get(key) }
    return { ...line, changed: line.before !== line.after }
  })
}

function fields(value: unknown): ReadonlyMap<string, string> {
  if (value === null || value === undefined) return new Map()
  if (typeof value !== 'object' || Array.isArray(value)) return new Map([[ROOT_KEY, show(value)]])
  return new Map(Object.entries(value).map(([key, field]) => [key, show(field)]))
}

/** Formats a value on one line, with spaces where it can wrap. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const parts = Object.entries(value).map(
    ([key, field]) => `${JSON.stringify(key)}: ${show(field)}`,
  )
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
