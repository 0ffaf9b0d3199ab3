import { invariant } from '../invariant.ts'
import type { Steps } from '../run-steps.ts'
import type { Json } from './json.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-characters.ts'
import { endOfString, parseJson, setField, skipWhitespace } from './parse-json.ts'

/**
 * Number of characters that are parsed in one step. A step takes up to about ten milliseconds, for
 * objects with different keys.
 */
export const PIECE_LENGTH = 64 * 1024

type JsonObject = { [key: string]: Json }

/**
 * Parses JSON like {@link parseJson}, in steps.
 *
 * @throws SyntaxError if the text is malformed.
 */
export function* parseJsonInSteps(text: string, pieceLength = PIECE_LENGTH): Steps<Json> {
  if (text.length <= pieceLength) return parseJson(text)
  const ends = yield* findLargeStructures(text, pieceLength)
  const json = { text, ends, pieceLength }
  // The text is parsed like that of an array with one element.
  const values = (yield* parseMembers(json, 0, text.length, false)) as Json[]
  const [value] = values
  if (value === undefined || values.length > 1) throw new SyntaxError('The text is not one value')
  return value
}

/**
 * Returns the indexes of the closing brackets of all objects and arrays that are longer than a
 * piece, by the indexes of the opening ones.
 *
 * @throws SyntaxError if there are not as many closing as opening brackets, or a string has no end.
 */
function* findLargeStructures(
  text: string,
  pieceLength: number,
): Steps<ReadonlyMap<number, number>> {
  const ends = new Map<number, number>()
  const open: number[] = []
  let nextStep = pieceLength
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at === -1) throw new SyntaxError('A string has no end')
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open.push(at)
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      const begin = open.pop()
      if (begin === undefined) throw new SyntaxError('A closing bracket has no opening one')
      if (at - begin >= pieceLength) ends.set(begin, at)
    }
    if (at >= nextStep) {
      yield
      nextStep = at + pieceLength
    }
  }
  if (open.length > 0) throw new SyntaxError('An opening bracket has no closing one')
  return ends
}

interface LargeJson {
  readonly text: string
  /** The result of {@link findLargeStructures}. */
  readonly ends: ReadonlyMap<number, number>
  readonly pieceLength: number
}

/**
 * Parses the members between the brackets of an object or array in pieces. A member that is large
 * itself is parsed in the same way.
 */
function* parseMembers(
  json: LargeJson,
  begin: number,
  end: number,
  isObject: boolean,
): Steps<Json> {
  const { text, ends, pieceLength } = json
  const members = isObject ? new ObjectMembers() : new ArrayMembers()
  let piece = begin
  let member = begin
  let depth = 0
  for (let at = begin; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
    } else if (code === COMMA && depth === 0) {
      member = at + 1
      if (at - piece < pieceLength) continue
      members.add(text.slice(piece, at))
      piece = member
      yield
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      const close = ends.get(at)
      if (close === undefined) {
        depth++
        continue
      }
      if (member > piece) {
        members.add(text.slice(piece, member - 1))
        yield
      }
      const isObjectMember = code === OPEN_OBJECT
      if (text.charCodeAt(close) !== (isObjectMember ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        throw new SyntaxError('The brackets differ')
      }
      const value = yield* parseMembers(json, at + 1, close, isObjectMember)
      yield
      members.addValue(text.slice(member, at), value)
      at = skipWhitespace(text, close + 1)
      if (at >= end) return members.value
      if (text.charCodeAt(at) !== COMMA) throw new SyntaxError('A comma is missing')
      member = at + 1
      piece = member
    }
  }
  const isWhole = piece === begin
  members.add(text.slice(piece, end), isWhole)
  return members.value
}

/** The members of a large array. */
class ArrayMembers {
  readonly value: Json[] = []

  /** Adds the elements in a text. @throws SyntaxError */
  add(piece: string, mayBeEmpty = false): void {
    const elements = parseJson(`[${piece}]`) as Json[]
    if (elements.length === 0 && !mayBeEmpty) throw new SyntaxError('An element is missing')
    for (const element of elements) this.value.push(element)
  }

  /** Adds a parsed element after a text, which must be whitespace. @throws SyntaxError */
  addValue(before: string, element: Json): void {
    parseJson(`${before}null`)
    this.value.push(element)
  }
}

/** The members of a large object. */
class ObjectMembers {
  readonly value: JsonObject = {}

  /** Adds the fields in a text. @throws SyntaxError */
  add(piece: string, mayBeEmpty = false): void {
    const fields = parseJson(`{${piece}}`) as JsonObject
    const keys = Object.keys(fields)
    if (keys.length === 0 && !mayBeEmpty) throw new SyntaxError('A field is missing')
    for (const key of keys) setField(this.value, key, fields[key] as Json)
  }

  /** Adds a field with a parsed value after a text, which must be its key and a colon. */
  addValue(before: string, value: Json): void {
    const [key] = Object.keys(parseJson(`{${before}null}`) as object)
    invariant(key !== undefined, 'a field has a key')
    setField(this.value, key, value)
  }
}
