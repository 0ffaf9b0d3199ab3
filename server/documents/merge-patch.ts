import { Failure } from '../failure.ts'
import type { Json } from './strict-json.ts'

type JsonObject = { [key: string]: Json }

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Applies a JSON merge patch (RFC 7396 §2) and answers the result; neither value is changed.
 *
 * @throws Failure `invalid` where the patch is nested too deeply.
 */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  try {
    return merge(target, patch)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new Failure('invalid', 'The patch is nested too deeply.', { cause })
  }
}

function merge(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key)
    else merged.set(key, merge(merged.get(key), value))
  }
  // By entries, so that "__proto__" is a key like any other.
  return Object.fromEntries(merged)
}
