import { createScanner, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'

/** An entry of a JSON array with the line on which it begins, from 1. */
export interface JsonEntry {
  readonly value: unknown
  readonly line: number
}

/** A syntax error and its position, from 1. */
export interface JsonSyntaxError {
  readonly line: number
  readonly column: number
  readonly message: string
}

export type ReadEntries =
  | { readonly ok: true; readonly entries: readonly JsonEntry[] }
  | { readonly ok: false; readonly error: JsonSyntaxError }

/** Maximum nesting depth: more than a valid entry needs, and safe for the call stack. */
const MAX_DEPTH = 100

/**
 * Parses a JSON array (RFC 8259) with the line of each entry. It has its own error messages, because
 * those of browsers differ and some omit the position.
 */
export function readEntries(file: string): ReadEntries {
  // Keep the length, so that positions are those of the file.
  const text = file.replace(/^\uFEFF/, ' ')
  const { first, lines, tooDeep } = scan(text)
  if (first !== '[')
    return failure(text, text.search(/\S|$/), 'A list of endpoints must begin with [.')
  if (tooDeep !== undefined) return failure(text, tooDeep, 'The nesting is too deep.')
  try {
    const values = JSON.parse(text) as readonly unknown[]
    return { ok: true, entries: values.map((value, index) => ({ value, line: lines[index] ?? 1 })) }
  } catch {
    const errors: ParseError[] = []
    parse(text, errors, { disallowComments: true })
    const [problem] = errors
    if (problem === undefined) return failure(text, 0, NOT_JSON)
    const { error, offset } = problem
    const before = text.slice(0, offset).trimEnd()
    if (before.endsWith(',') && /[\]}]/.test(text.charAt(offset))) {
      return failure(text, before.length - 1, 'Trailing commas are not allowed.')
    }
    return failure(text, offset, messages[printParseErrorCode(error)] ?? NOT_JSON)
  }
}

/** Returns the first token, the line of each entry, and the position of a nesting too deep. */
function scan(text: string) {
  const scanner = createScanner(text, true)
  const lines: number[] = []
  let first: string | undefined
  let depth = 0
  while (true) {
    scanner.scan()
    const token = text.charAt(scanner.getTokenOffset())
    if (token === '') return { first, lines }
    first ??= token
    if (depth === 1 && !/^[\],]$/.test(token)) lines.push(scanner.getTokenStartLine() + 1)
    if (token === '[' || token === '{') depth += 1
    if (token === ']' || token === '}') depth -= 1
    if (depth > MAX_DEPTH) return { first, lines, tooDeep: scanner.getTokenOffset() }
  }
}

const NOT_JSON = 'Invalid JSON.'

const badString = 'The string is not closed or contains an invalid character.'

const messages: Readonly<Record<string, string>> = {
  InvalidSymbol: 'Invalid value. Strings and keys need double quotes.',
  PropertyNameExpected: 'Expected a key in double quotes.',
  ValueExpected: 'Expected a value.',
  ColonExpected: 'Expected a colon.',
  CommaExpected: 'Expected a comma.',
  CloseBraceExpected: 'Expected a comma or }.',
  CloseBracketExpected: 'Expected a comma or ].',
  EndOfFileExpected: 'Unexpected text after the end of the list.',
  InvalidCommentToken: 'Comments are not allowed in JSON.',
  UnexpectedEndOfString: badString,
  InvalidUnicode: badString,
  InvalidEscapeCharacter: badString,
  InvalidCharacter: badString,
}

function failure(text: string, at: number, message: string): ReadEntries {
  const before = text.slice(0, at).split('\n')
  const column = (before.at(-1) ?? '').length + 1
  const ends = at < text.length ? '' : 'The text ends here. '
  return { ok: false, error: { line: before.length, column, message: `${ends}${message}` } }
}
