import { Failure } from '../../failure.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  type Json,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json.ts'

/**
 * Parses JSON. Use it for values whose keys others choose: V8 (Node.js 24.21) can mistake a key
 * that is written with an escape for another key. After `{"a":1,"\\":1}`, `JSON.parse` returns
 * `{"a":1,"\n":1}` as `{"a":1,"\\":1}`, because an earlier object has a key of the same length in
 * this place, and the text begins with its characters. A text in which a key has an escape is
 * therefore parsed here.
 *
 * @throws SyntaxError if the text is malformed.
 */
export function parseJson(text: string): Json {
  return hasEscapedKey(text) ? parseSafely(text) : JSON.parse(text)
}

/** Returns whether a key of a JSON text has an escape. May return false if it is malformed. */
function hasEscapedKey(text: string): boolean {
  let nextEscape = text.indexOf('\\')
  for (let begin = 0; nextEscape !== -1; ) {
    begin = text.indexOf('"', begin)
    const end = endOfString(text, begin)
    // Malformed: an escape is outside of strings, or a string has no end.
    if (end === -1) return false
    if (nextEscape < end) {
      if (isKey(text, end)) return true
      nextEscape = text.indexOf('\\', end)
    }
    begin = end + 1
  }
  return false
}

/** Parses JSON without the fast paths of V8, in linear time. @throws SyntaxError */
function parseSafely(text: string): Json {
  let at = 0

  /** Moves to the next character that is no whitespace; returns its code. */
  function next(): number {
    at = skipWhitespace(text, at)
    return text.charCodeAt(at)
  }

  /** Moves behind the next character that is no whitespace. @throws SyntaxError for another one */
  function expect(code: number): void {
    if (next() !== code) throw new SyntaxError(`Unexpected character at ${at}`)
    at++
  }

  /** Returns whether an array or object ends here; otherwise moves behind the comma. */
  function ends(close: number): boolean {
    const isEnd = next() === close
    expect(isEnd ? close : COMMA)
    return isEnd
  }

  function string(): string {
    const begin = at
    expect(QUOTE)
    const end = endOfString(text, begin)
    if (end === -1) throw new SyntaxError('A string has no end')
    at = end + 1
    for (let each = begin; each < end; each++) {
      if (text.charCodeAt(each) < SPACE) throw new SyntaxError('A string has a control character')
    }
    return keyOf(text, begin, end)
  }

  function array(): Json {
    const values: Json[] = []
    expect(OPEN_ARRAY)
    if (next() === CLOSE_ARRAY) at++
    else
      do values.push(value())
      while (!ends(CLOSE_ARRAY))
    return values
  }

  function object(): Json {
    const fields: { [key: string]: Json } = {}
    expect(OPEN_OBJECT)
    if (next() === CLOSE_OBJECT) at++
    else
      do {
        next()
        const key = string()
        expect(COLON)
        setField(fields, key, value())
      } while (!ends(CLOSE_OBJECT))
    return fields
  }

  function value(): Json {
    const code = next()
    if (code === QUOTE) return string()
    if (code === OPEN_ARRAY) return array()
    if (code === OPEN_OBJECT) return object()
    const begin = at
    while (at < text.length && !isEndOfLiteral(text.charCodeAt(at))) at++
    return JSON.parse(text.slice(begin, at))
  }

  const parsed = value()
  next()
  if (at < text.length) throw new SyntaxError('The text is not one value')
  return parsed
}

/** Sets a field of an object. An assignment to `__proto__` would set the prototype. */
export function setField(object: { [key: string]: Json }, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value
  else
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    })
}

const SPACE = 0x20

const isWhitespace = (code: number) =>
  code === SPACE || code === 0x0a || code === 0x0d || code === 0x09

const isEndOfLiteral = (code: number) =>
  code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || isWhitespace(code)

/** Returns whether a string is the key of an object: a colon follows its closing quote. */
function isKey(text: string, end: number): boolean {
  return text[skipWhitespace(text, end + 1)] === ':'
}

/** Returns the index of the first character that is no whitespace (RFC 8259 §2), from an index on. */
function skipWhitespace(text: string, from: number): number {
  let at = from
  while (isWhitespace(text.charCodeAt(at))) at++
  return at
}

/** Returns the string between two quotes. @throws SyntaxError if it is malformed. */
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Returns a JSON body, or a part of it, as exactly the text that was sent.
 *
 * @throws Failure `bad-json` for invalid UTF-8
 */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    throw new Failure(
      'bad-json',
      isGzip ? 'The body is gzip. Send Content-Encoding: gzip.' : 'The body is not UTF-8.',
      { cause },
    )
  }
}
