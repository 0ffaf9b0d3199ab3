import type { Json } from '../../contract/json/json.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import { endOfValue, readFields } from './read-fields.ts'

/** Documents of up to this many characters are parsed whole. */
const PARSED_WHOLE = 16 * 1024

/**
 * Parses a document, or only the fields with these names if it is large. A document of 1 MiB can
 * contain hundreds of thousands of objects. They take much longer to create, and to collect as
 * garbage, than their text takes to skip.
 *
 * @param body as `printJson` prints it.
 * @returns undefined if the text is not JSON, because the disk is damaged.
 */
export function parseFields(body: string, names: ReadonlySet<string>): Json | undefined {
  try {
    if (body.length <= PARSED_WHOLE) return parseJson(body)
    const fields: [string, Json][] = []
    readFields(body, 0, (name, _, begin) => {
      const end = endOfValue(body, begin)
      if (names.has(name)) fields.push([name, parseJson(body.slice(begin, end))])
      return end
    })
    // From entries, so that "__proto__" is an ordinary name.
    return Object.fromEntries(fields)
  } catch {
    return undefined
  }
}
