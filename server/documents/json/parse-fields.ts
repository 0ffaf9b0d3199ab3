import { type NextTurn, runInTurns } from '../../concurrency/turns.ts'
import type { Json } from '../../contract/json/json.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { PIECE_LENGTH, parseJsonInSteps } from '../../contract/json/parse-json-in-steps.ts'
import type { Steps } from '../../contract/run-steps.ts'
import { endOfValue, readFields } from './read-fields.ts'

/** Documents of up to this many characters are parsed whole. */
const PARSED_WHOLE = 16 * 1024

/**
 * Parses a document, or only the fields with these names if it is large. A document of 1 MiB can
 * contain hundreds of thousands of objects. They take much longer to create, and to collect as
 * garbage, than their text takes to skip. Each {@link PIECE_LENGTH} of the fields is a step.
 *
 * @param body as `printJson` prints it.
 */
export function* parseFieldsInSteps(body: string, names: ReadonlySet<string>): Steps<Json> {
  if (body.length <= PARSED_WHOLE) return parseJson(body)
  const texts: [name: string, text: string][] = []
  readFields(body, 0, (name, _, begin) => {
    const end = endOfValue(body, begin)
    if (names.has(name)) texts.push([name, body.slice(begin, end)])
    return end
  })
  const fields: [string, Json][] = []
  let length = 0
  for (const [name, text] of texts) {
    length += text.length
    if (length > PIECE_LENGTH) {
      yield
      length = text.length
    }
    fields.push([name, yield* parseJsonInSteps(text)])
  }
  // From entries, so that "__proto__" is an ordinary name.
  return Object.fromEntries(fields)
}

/**
 * Parses the fields of a document; returns undefined if its text is not JSON, because the disk is
 * damaged. If the fields are large, each step takes a turn of the event loop of its own; the result
 * is then a promise.
 */
export function parseFieldsInTurns(
  body: string,
  names: ReadonlySet<string>,
  nextTurn: NextTurn,
): Json | undefined | Promise<Json | undefined> {
  try {
    // Fast path, without a generator.
    if (body.length <= PARSED_WHOLE) return parseJson(body)
    const steps = parseFieldsInSteps(body, names)
    const first = steps.next()
    return first.done ? first.value : runInTurns(steps, nextTurn).catch(() => undefined)
  } catch {
    return undefined
  }
}
