import type { Condition } from './filter.ts'
import { equalTexts, parseExactly } from './filter.ts'

/**
 * Texts that the stored body of each document that matches contains: at least one of each group.
 * Others contain them too, so documents that are found by them are still matched.
 */
export type RequiredTexts = readonly (readonly string[])[]

/** Maximum number of texts of a group, each of which the store compares with every body. */
const ALTERNATIVES = 10

/** Returns the texts that documents need to match all conditions. Bodies are printed by `printJson`. */
export const requiredTexts = (conditions: readonly Condition[]): RequiredTexts =>
  conditions.flatMap((condition) => {
    const texts = textsOf(condition)
    return texts === undefined ? [] : [texts]
  })

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
      const values = equalTexts(condition)
      if (values === undefined || values.length > ALTERNATIVES) return [member]
      return values.flatMap((value) =>
        [JSON.stringify(value), ...exactJson(value)].map((printed) => `${member}${printed}`),
      )
    }
  }
}

/** Returns the JSON of the value other than a string that equals a text, if there is one. */
const exactJson = (text: string): readonly string[] =>
  parseExactly(text) === undefined ? [] : [text]
