import type { Json } from './json.ts'

/** Begins the names that replace keys with escapes. Nobody can guess it. */
const MARK = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`

/**
 * Parses JSON. Use it for values whose keys others choose: V8 (Node.js 24.21) can mistake a key
 * that is written with an escape for another key. After `{"a":1,"\\":1}`, `JSON.parse` returns
 * `{"a":1,"\n":1}` as `{"a":1,"\\":1}`, because an earlier object has a key of the same length in
 * this place, and the text begins with its characters. Other names therefore replace such keys while
 * `JSON.parse` reads the text.
 *
 * @throws SyntaxError if the text is malformed.
 */
export function parseJson(text: string): Json {
  let nextEscape = text.indexOf('\\')
  if (nextEscape === -1) return JSON.parse(text)
  const keys: string[] = []
  let renamed = ''
  let from = 0
  for (let begin = text.indexOf('"'); begin !== -1 && nextEscape !== -1; ) {
    const end = endOfString(text, begin)
    if (end === -1) break
    if (nextEscape < end) {
      if (isKey(text, end)) {
        renamed += `${text.slice(from, begin)}"${MARK}${keys.length}"`
        keys.push(keyOf(text, begin, end))
        from = end + 1
      }
      nextEscape = text.indexOf('\\', end)
    }
    begin = text.indexOf('"', end + 1)
  }
  if (keys.length === 0) return JSON.parse(text)
  return withKeys(JSON.parse(renamed + text.slice(from)), keys)
}

/** Gives objects their keys again. */
function withKeys(value: Json, keys: readonly string[]): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) value[at] = withKeys(each, keys)
    return value
  }
  let isRenamed = false
  for (const [name, each] of Object.entries(value)) {
    value[name] = withKeys(each, keys)
    isRenamed ||= name.startsWith(MARK)
  }
  if (!isRenamed) return value
  const keyOfName = (name: string) =>
    name.startsWith(MARK) ? String(keys[Number(name.slice(MARK.length))]) : name
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [keyOfName(name), each]))
}

/** Returns whether a string is the key of an object: a colon follows its closing quote. */
function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at++
  return text[at] === ':'
}

/** Returns the key between two quotes. @throws SyntaxError if it is malformed. */
export function keyOf(text: string, begin: number, end: number): string {
  const key = text.slice(begin + 1, end)
  return key.includes('\\') ? (JSON.parse(text.slice(begin, end + 1)) as string) : key
}

/**
 * Returns the index of the closing quote of the string that begins here, or -1 if there is none. A
 * regular expression would take stack space for each character.
 */
export function endOfString(text: string, begin: number): number {
  for (let at = begin; ; ) {
    at = text.indexOf('"', at + 1)
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
}
