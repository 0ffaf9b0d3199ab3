type Value = unknown

const isObject = (value: Value): value is Record<string, Value> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a value with a JSON merge patch applied (RFC 7396). */
export function mergePatch(target: Value, patch: Value): Value {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  }
  // Not an object literal: `__proto__` is a field like any other.
  return Object.fromEntries(merged)
}
