import { type Condition, equalTexts, parseExactly } from './filter.ts'

/**
 * Texts that the stored body of each document that matches contains: at least one of each group.
 * Other documents may contain them too, so those that the store finds by them are still matched.
 */
export type RequiredTexts = readonly (readonly string[])[]

/**
 * Maximum number of texts of a query, and their length, characters. SQLite searches each of them in
 * every body in the thread of the event loop, at worst with this many comparisons for each byte.
 */
const LIMITS = { texts: 8, length: 64 } as const

/** Returns texts that documents need to match all conditions. Bodies are printed by `printJson`. */
export function requiredTexts(conditions: readonly Condition[]): RequiredTexts {
  const groups: (readonly string[])[] = []
  let left: number = LIMITS.texts
  for (const condition of conditions) {
    const texts = textsOf(condition)?.map(beginOf)
    if (texts === undefined || texts.length > left) continue
    left -= texts.length
    groups.push(texts)
  }
  return groups
}

/** Returns the texts that a condition needs; undefined if documents match it without a text. */
function textsOf(condition: Condition): readonly string[] | undefined {
  const { operator, path, text } = condition
  const member = `${JSON.stringify(path.at(-1))}:`
  switch (operator) {
    case 'ne':
      return undefined
    case 'exists':
      return text === 'true' ? [member] : undefined
    case 'starts':
      return [`${member}${JSON.stringify(text).slice(0, -1)}`]
    case 'contains':
      return text === '' ? [member] : [JSON.stringify(text).slice(1, -1), ...exactJson(text)]
    default: {
      const texts = equalTexts(condition)?.flatMap((value) =>
        [JSON.stringify(value), ...exactJson(value)].map((printed) => `${member}${printed}`),
      )
      return texts === undefined || texts.length > LIMITS.texts ? [member] : texts
    }
  }
}

/** Returns the JSON of the value other than a string that equals a text, if there is one. */
const exactJson = (text: string): readonly string[] =>
  parseExactly(text) === undefined ? [] : [text]

/** Returns the beginning of a text that is long, without half of a surrogate pair. */
function beginOf(text: string): string {
  const begin = text.slice(0, LIMITS.length)
  return begin.isWellFormed() ? begin : begin.slice(0, -1)
}
