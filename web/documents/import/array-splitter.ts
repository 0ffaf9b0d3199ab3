const [TAB, NEWLINE, RETURN, SPACE, BOM] = [0x09, 0x0a, 0x0d, 0x20, 0xfeff]
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

const isSpace = (code: number) =>
  code === SPACE || code === NEWLINE || code === RETURN || code === TAB || code === BOM

/** Turns the text of a JSON array, in any parts, into lines with one element each. */
export interface ArraySplitter {
  /** Whether the text begins with `[`; undefined before its first character. */
  readonly isArray: boolean | undefined
  /** Returns the lines of the next part of the text. The last line may be continued. */
  readonly write: (part: string) => string
  /** Returns the end of the last line, if the array has no end. */
  readonly end: () => string
}

/**
 * Returns a splitter. Whitespace between tokens is removed. Elements are not checked; the server
 * reports those that are not JSON.
 */
export function createArraySplitter(): ArraySplitter {
  let isArray: boolean | undefined
  let depth = 0
  let [isString, isEscaped, isElement, isOver] = [false, false, false, false]
  const endLine = () => {
    const line = isElement ? '\n' : ''
    isElement = false
    return line
  }
  return {
    get isArray() {
      return isArray
    },
    write(part) {
      let lines = ''
      // The text from here is copied when a character must be removed.
      let from = 0
      for (let at = 0; at < part.length && !isOver; at++) {
        const code = part.charCodeAt(at)
        if (isString && code !== NEWLINE && code !== RETURN) {
          if (isEscaped) isEscaped = false
          else if (code === BACKSLASH) isEscaped = true
          else if (code === QUOTE) isString = false
          continue
        }
        const isBegin = isArray === undefined && !isSpace(code)
        const isEnd = depth === 0 && (code === COMMA || code === CLOSE)
        if (!isBegin && !isEnd && !isSpace(code)) {
          isElement = true
          if (code === QUOTE) isString = true
          else if (code === OPEN || code === OPEN_OBJECT) depth++
          else if (code === CLOSE || code === CLOSE_OBJECT) depth--
          continue
        }
        lines += part.slice(from, at)
        from = at + 1
        if (isString) lines += ' '
        else if (isBegin) {
          isArray = code === OPEN
          isOver = !isArray
        } else if (isEnd) {
          lines += endLine()
          isOver = code === CLOSE
        }
      }
      return isOver ? lines : lines + part.slice(from)
    },
    end: endLine,
  }
}

/** Size of the texts that are turned into lines at once, and of the parts of the result, bytes. */
const PART_BYTES = 1024 * 1024

/**
 * Returns the elements of a JSON array as NDJSON. Reads a part at a time, so that the page stays
 * responsive; the browser may keep the result on disk.
 *
 * @throws Error if the source is not an array
 */
export async function toLines(source: Blob, signal: AbortSignal): Promise<Blob> {
  const splitter = createArraySplitter()
  const decoder = new TextDecoder()
  const lines: Blob[] = []
  for (let from = 0; from < source.size && splitter.isArray !== false; from += PART_BYTES) {
    const bytes = await source.slice(from, from + PART_BYTES).arrayBuffer()
    signal.throwIfAborted()
    lines.push(new Blob([splitter.write(decoder.decode(bytes, { stream: true }))]))
  }
  if (splitter.isArray !== true) throw new Error(NO_ARRAY)
  return new Blob([...lines, splitter.end()])
}

export const NO_ARRAY = 'A JSON array begins with [. Choose another format.'
