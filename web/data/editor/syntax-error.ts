import { type ParseError, parse } from 'jsonc-parser'

/**
 * Returns why text is not a document; undefined if it is a JSON object. The server checks the rest.
 */
export function documentError(text: string): string | undefined {
  if (text.trim() === '') {
    return 'Enter a JSON object, such as { "title": "One" }'
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  } catch (error) {
    return formatSyntaxError(text, (error as Error).message)
  }
  return 'A document must be a JSON object, from { to }.'
}

/** Returns why text is not a schema; undefined if it is JSON. The server checks the rest. */
export function schemaError(text: string): string | undefined {
  if (text.trim() === '') return 'Enter a JSON object.'
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return formatSyntaxError(text, (error as Error).message)
  }
}

/** Returns the index of the first syntax error; undefined if the text is JSON. */
export function syntaxErrorAt(text: string): number | undefined {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true })
  return errors[0]?.offset
}

/** The position is the parser's; each browser reports the reason in its own words. */
function formatSyntaxError(text: string, message: string): string {
  const at = syntaxErrorAt(text)
  if (at === undefined) return `Invalid JSON. (${message})`
  const before = text.slice(0, at).split('\n')
  const [reason] = message
    .replace(/^JSON\.parse: /, '')
    .split(/ (?:in JSON )?at (?:position|line) /, 1)
  const where = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  return `Invalid JSON at ${where}. (${reason})`
}
