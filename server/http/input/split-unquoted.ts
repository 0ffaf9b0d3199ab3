/** Splits a header at each separator outside quoted strings (RFC 9110 §5.6.4), in linear time. */
export function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = []
  let begin = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      isQuoted = !isQuoted
    } else if (isQuoted) {
      if (character === '\\') at++
    } else if (character === separator) {
      parts.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  parts.push(text.slice(begin))
  return parts
}

/**
 * Returns the name, in lower case, and the value of a parameter `name=value` of a header, whose
 * value may be a quoted string; undefined if it has no value.
 */
export function parseParameter(text: string): [name: string, value: string | undefined] {
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  const value = equals === -1 ? undefined : unquoted(text.slice(equals + 1).trim())
  return [name.trim().toLowerCase(), value]
}

const unquoted = (word: string): string =>
  word.length > 1 && word.startsWith('"') && word.endsWith('"')
    ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    : word
