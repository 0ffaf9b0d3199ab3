import { parseJson } from '../../../server/contract/json/parse-json.ts'
/** Lines of printed JSON that follow each other. */
export interface ComparedLines {
  readonly text: string
  /** Whether the lines differ from those of the other document. */
  readonly isChanged: boolean
}

interface Line {
  /** Identifies the line in both documents: the names that lead to its value, and which end it is. */
  readonly path: string
  readonly text: string
}

/**
 * Returns the lines of two documents, printed as by `formatJson`. A line is changed if the same
 * field or element has another line, or none, in the other document.
 */
export function compareDocuments(before: string, after: string) {
  const [one, other] = [linesOf(before), linesOf(after)]
  return { before: compare(one, other), after: compare(other, one) }
}

const linesOf = (json: string): Line[] => [...printLines(parseJson(json), '', '', '', '')]

function* printLines(
  value: unknown,
  path: string,
  indent: string,
  key: string,
  comma: string,
): Generator<Line> {
  const isArray = Array.isArray(value)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (entries.length === 0) {
    yield { path, text: `${indent}${key}${JSON.stringify(value)}${comma}` }
    return
  }
  const [open, close] = isArray ? '[]' : '{}'
  yield { path, text: `${indent}${key}${open}` }
  for (const [at, [name, inner]] of entries.entries()) {
    const quoted = JSON.stringify(name)
    const isLast = at === entries.length - 1
    yield* printLines(
      inner,
      `${path} ${quoted}`,
      `${indent}  `,
      isArray ? '' : `${quoted}: `,
      isLast ? '' : ',',
    )
  }
  yield { path: `${path} end`, text: `${indent}${close}${comma}` }
}

/** Joins lines that are both changed, or both not. The comma after a value does not count. */
function compare(lines: readonly Line[], others: readonly Line[]): ComparedLines[] {
  const withoutComma = (text: string) => text.replace(/,$/, '')
  const texts = new Map(others.map(({ path, text }) => [path, withoutComma(text)]))
  const joined: { text: string; isChanged: boolean }[] = []
  for (const { path, text } of lines) {
    const isChanged = texts.get(path) !== withoutComma(text)
    const last = joined.at(-1)
    if (last?.isChanged === isChanged) last.text += `\n${text}`
    else joined.push({ text, isChanged })
  }
  return joined
}
