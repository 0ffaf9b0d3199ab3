/** An entry of a JSON array, and the line on which it begins, from 1. */
export interface JsonEntry {
  readonly value: unknown
  readonly line: number
}

/** Where a text stops being a JSON array, from 1, and why. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** What {@link readEntries} answers. */
export type ReadEntries =
  | { readonly ok: true; readonly entries: readonly JsonEntry[] }
  | { readonly ok: false; readonly fault: JsonFault }

/**
 * Reads a JSON array (RFC 8259) entry by entry, so that each is known by its line. It tells a fault
 * in words of its own: every browser has other ones, and some leave out the place.
 */
export function readEntries(text: string): ReadEntries {
  const scan = { text, at: text.startsWith('\uFEFF') ? 1 : 0 }
  try {
    return { ok: true, entries: scanEntries(scan) }
  } catch (error) {
    if (!(error instanceof Misplaced)) throw error
    const before = text.slice(0, error.at).split('\n')
    const column = (before.at(-1) ?? '').length + 1
    return { ok: false, fault: { line: before.length, column, message: error.message } }
  }
}

interface Scan {
  readonly text: string
  at: number
}

class Misplaced extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Deeper than any entry that means something, and far from the end of the stack. */
const DEEPEST = 100

function scanEntries(scan: Scan): JsonEntry[] {
  const entries: JsonEntry[] = []
  let line = 1
  let counted = 0
  const item = () => {
    for (; counted < scan.at; counted += 1) if (scan.text[counted] === '\n') line += 1
    const start = scan.at
    skipValue(scan, 1)
    entries.push({ value: JSON.parse(scan.text.slice(start, scan.at)), line })
  }
  skipSpace(scan)
  if (scan.text[scan.at] !== '[') throw missing(scan, 'A list of endpoints begins with [.')
  skipList(scan, ']', item)
  skipSpace(scan)
  if (scan.at < scan.text.length) throw missing(scan, 'The list has ended, and more follows.')
  return entries
}

function skipValue(scan: Scan, depth: number): void {
  if (depth > DEEPEST) throw new Misplaced(scan.at, 'This is nested too deeply.')
  const first = scan.text[scan.at]
  if (first === '[') skipList(scan, ']', () => skipValue(scan, depth + 1))
  else if (first === '{') {
    skipList(scan, '}', () => {
      take(scan, STRING, 'A key in double quotes is missing here.')
      skipSpace(scan)
      take(scan, /:/y, 'A colon is missing here.')
      skipSpace(scan)
      skipValue(scan, depth + 1)
    })
  } else if (first === '"') take(scan, STRING, 'This text in quotes has no end, or a stray sign.')
  else if (first === "'") throw missing(scan, 'JSON takes double quotes alone.')
  else take(scan, SCALAR, 'A value is missing here.')
}

// RFC 8259 §7 and §6.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y
const SCALAR =
  /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.+-])/y

function skipList(scan: Scan, end: ']' | '}', item: () => void): void {
  scan.at += 1
  skipSpace(scan)
  if (scan.text[scan.at] !== end) {
    item()
    skipSpace(scan)
    while (scan.text[scan.at] === ',') {
      const comma = scan.at
      scan.at += 1
      skipSpace(scan)
      if (scan.text[scan.at] === end) throw new Misplaced(comma, 'Nothing follows this comma.')
      item()
      skipSpace(scan)
    }
    if (scan.text[scan.at] !== end) throw missing(scan, `A comma or ${end} is missing here.`)
  }
  scan.at += 1
}

function skipSpace(scan: Scan): void {
  SPACE.lastIndex = scan.at
  SPACE.test(scan.text)
  scan.at = SPACE.lastIndex
}

const SPACE = /[ \t\r\n]*/y

function take(scan: Scan, pattern: RegExp, otherwise: string): void {
  pattern.lastIndex = scan.at
  if (!pattern.test(scan.text)) throw missing(scan, otherwise)
  scan.at = pattern.lastIndex
}

const missing = ({ text, at }: Scan, message: string) =>
  new Misplaced(at, at < text.length ? message : `The text ends here. ${message}`)
