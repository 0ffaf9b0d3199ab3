import type { NextTurn } from '../../concurrency/turns.ts'
import type { Json } from '../../contract/json/json.ts'
import { requireJsonLimits } from '../../contract/json/json-limits.ts'
import { mergePatch } from '../../contract/json/merge-patch.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { type Parsed, printJson } from '../../contract/json/strict-json.ts'
import { LARGE_LENGTH } from './parse-in-turns.ts'

/**
 * Applies a merge patch to a stored document. If it is large, each step takes a turn of the event
 * loop of its own.
 *
 * @param patchLength the number of characters of the patch.
 * @throws Failure `invalid` if the result exceeds the limits of `contract/json/json-limits.ts`.
 */
export async function mergeInTurns(
  body: string,
  patch: Json,
  patchLength: number,
  nextTurn: NextTurn,
): Promise<Parsed> {
  const isLarge = body.length + patchLength > LARGE_LENGTH
  if (isLarge) await nextTurn()
  const target = parseJson(body)
  if (isLarge) await nextTurn()
  const value = mergePatch(target, patch)
  if (isLarge) await nextTurn()
  const printed = printJson(value)
  // A result that is not large cannot exceed the limits.
  if (isLarge) {
    await nextTurn()
    requireJsonLimits(printed)
  }
  return { value, printed }
}
