import { type NextTurn, runInTurns } from '../../concurrency/turns.ts'
import type { Json } from '../../contract/json/json.ts'
import { requireJsonLimits } from '../../contract/json/json-limits.ts'
import { mergePatch } from '../../contract/json/merge-patch.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { parseJsonInSteps } from '../../contract/json/parse-json-in-steps.ts'
import { printJsonInSteps } from '../../contract/json/print-json-in-steps.ts'
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
  if (body.length + patchLength <= LARGE_LENGTH) {
    const merged = mergePatch(parseJson(body), patch)
    // It is not large, so it cannot exceed the limits.
    return { value: merged, printed: printJson(merged) }
  }
  const target = await runInTurns(parseJsonInSteps(body), nextTurn)
  await nextTurn()
  const value = mergePatch(target, patch)
  const printed = await runInTurns(printJsonInSteps(value), nextTurn)
  await nextTurn()
  requireJsonLimits(printed)
  return { value, printed }
}
