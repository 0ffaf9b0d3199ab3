import type { Json } from './json.ts'
import { setField } from './parse-json.ts'

type JsonObject = { [key: string]: Json }

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns the result of a JSON merge patch (RFC 7396 §2). Changes the target, because a copy of an
 * object with many keys takes long, but not the patch.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged = isObject(target) ? target : {}
  for (const key of Object.keys(patch)) {
    const value = patch[key] as Json
    if (value === null) delete merged[key]
    else
      setField(merged, key, mergePatch(Object.hasOwn(merged, key) ? merged[key] : undefined, value))
  }
  return merged
}
