/** A document as it is shown: a JSON object. */
export type DocumentFields = Readonly<Record<string, unknown>>

/** Why a text is no document, and where in it. */
export interface TextFault {
  readonly message: string
  /** The index of the character at which it goes wrong; undefined: not known. */
  readonly at?: number
}

/** About as many characters fit into the widest row. */
const ROOM = 240

/** The first fields of a document as one line of JSON; its id stands elsewhere. */
export function summarise(document: DocumentFields): string {
  let text = ''
  for (const [key, value] of Object.entries(document)) {
    if (key === 'id') continue
    text += `${text === '' ? '' : ', '}${JSON.stringify(key)}: ${JSON.stringify(value)}`
    // A cut through a character that takes two would leave a stray half.
    if (text.length > ROOM) return `{ ${text.slice(0, ROOM).replace(/[\uD800-\uDBFF]$/, '')}…`
  }
  return text === '' ? '{}' : `{ ${text} }`
}

/** JSON over several lines, as it is read and edited. */
export const pretty = (json: string): string => JSON.stringify(JSON.parse(json), null, 2)

/** JSON without the spaces between its parts: what is laid out for people is not counted as size. */
export const compact = (json: string): string =>
  json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"?|\s+/gs, (part) => (part.startsWith('"') ? part : ''))

/** Whether two JSON texts are the same document, whatever the order of their fields. */
export const sameDocument = (a: string, b: string): boolean => sorted(a) === sorted(b)

const sorted = (json: string): string =>
  JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
      : value,
  )

/** Why a text is no document; undefined: it is one, as far as can be seen without the server. */
export function textFault(text: string): TextFault | undefined {
  if (text.trim() === '') {
    return { message: 'Nothing is written. A document is a JSON object: { "title": "One" }' }
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  } catch (error) {
    return sayWhere(text, (error as Error).message)
  }
  return { message: 'A document is a JSON object: it begins with { and ends with }.' }
}

/** Why a text is no schema; undefined: it is JSON, and the server judges the rest. */
export function schemaFault(text: string): TextFault | undefined {
  if (text.trim() === '') return { message: 'Nothing is written. A schema is a JSON object.' }
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return sayWhere(text, (error as Error).message)
  }
}

/** Browsers say where a text stops being JSON in words of their own. */
function sayWhere(text: string, message: string): TextFault {
  const line = /line (\d+) column (\d+)/.exec(message)
  const position = /position (\d+)/.exec(message)?.[1]
  let at: number | undefined
  if (position !== undefined) at = Number(position)
  else if (line !== null) at = indexOf(text, Number(line[1]), Number(line[2]))
  else if (/end of (JSON|the|data|input)|EOF/i.test(message)) at = text.length
  if (at === undefined) return { message: `This is not JSON. (${message})` }
  const before = text.slice(0, at).split('\n')
  const [reason] = message
    .replace(/^JSON\.parse: /, '')
    .split(/ (?:in JSON )?at (?:position|line) /, 1)
  const where = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  return { message: `This is not JSON from ${where} on. (${reason})`, at }
}

const indexOf = (text: string, line: number, column: number): number =>
  text
    .split('\n')
    .slice(0, line - 1)
    .reduce((sum, each) => sum + each.length + 1, 0) +
  column -
  1
