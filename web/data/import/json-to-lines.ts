import { SourceError } from '../../shared/import/import-failure.ts'

const [TAB, NEWLINE, RETURN, SPACE, BOM] = [0x09, 0x0a, 0x0d, 0x20, 0xfeff]
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

const isSpace = (code: number) =>
  code === SPACE || code === NEWLINE || code === RETURN || code === TAB || code === BOM

/** Returns whether a character is part of a number or word, such as `true`. */
const isWord = (code: number) =>
  code !== QUOTE &&
  code !== COMMA &&
  code !== COLON &&
  code !== OPEN &&
  code !== CLOSE &&
  code !== OPEN_OBJECT &&
  code !== CLOSE_OBJECT

/**
 * Converts the text of a JSON array, or of objects one after another, in any parts, to lines with
 * one element each.
 */
export interface LineConverter {
  /** Whether the text begins with `[` or `{`; undefined before its first character. */
  readonly isJson: boolean | undefined
  /** Whether the array has ended. Objects one after another have no end. */
  readonly isComplete: boolean
  /** Whether text follows the end of the array. */
  readonly hasTextAfterEnd: boolean
  /** Returns the lines of the next part of the text. The last line may be continued. */
  readonly write: (part: string) => string
  /** Returns the end of the last line, if the array has no end. */
  readonly end: () => string
}

/**
 * Creates a converter. It removes whitespace between tokens, unless it separates two numbers or
 * words. It does not check elements; the server reports those that are not JSON.
 */
export function createLineConverter(): LineConverter {
  let isJson: boolean | undefined
  let isArray = false
  let depth = 0
  let [isString, isEscaped, isElement] = [false, false, false]
  /** Whether the last token was a number or word, and whether whitespace follows it. */
  let [wasWord, isAfterSpace] = [false, false]
  let [isOver, hasTextAfterEnd] = [false, false]
  const endLine = () => {
    const line = isElement ? '\n' : ''
    isElement = false
    return line
  }
  return {
    get isJson() {
      return isJson
    },
    get isComplete() {
      return isOver || !isArray
    },
    get hasTextAfterEnd() {
      return hasTextAfterEnd
    },
    write(part) {
      let lines = ''
      // The text from here is copied when a character must be removed.
      let from = 0
      for (let at = 0; at < part.length; at++) {
        const code = part.charCodeAt(at)
        if (isOver) {
          hasTextAfterEnd ||= isArray && !isSpace(code)
          continue
        }
        if (isString && code !== NEWLINE && code !== RETURN) {
          if (isEscaped) isEscaped = false
          else if (code === BACKSLASH) isEscaped = true
          else if (code === QUOTE) isString = false
          continue
        }
        let isBegin = isJson === undefined && !isSpace(code)
        if (isBegin && code === OPEN_OBJECT) {
          isJson = true
          isBegin = false
        }
        const isEnd = depth === 0 && (code === COMMA || (code === CLOSE && isArray))
        if (!isBegin && !isEnd && !isSpace(code)) {
          isElement = true
          if (wasWord && isAfterSpace && isWord(code)) {
            lines += `${part.slice(from, at)} `
            from = at
          }
          wasWord = isWord(code)
          isAfterSpace = false
          if (code === QUOTE) isString = true
          else if (code === OPEN || code === OPEN_OBJECT) depth++
          else if (code === CLOSE || code === CLOSE_OBJECT) depth--
          if (depth === 0 && code === CLOSE_OBJECT && !isArray) {
            lines += part.slice(from, at + 1) + endLine()
            from = at + 1
          }
          continue
        }
        lines += part.slice(from, at)
        from = at + 1
        if (isString) {
          // Not JSON either, but it does not end the line.
          lines += '\t'
          isEscaped = false
        } else if (isBegin) {
          isArray = code === OPEN
          isJson = isArray
          isOver = !isArray
        } else if (isEnd) {
          lines += endLine()
          isOver = code === CLOSE
          wasWord = false
        } else isAfterSpace = true
      }
      return isOver ? lines : lines + part.slice(from)
    },
    end: endLine,
  }
}

/** Size of the texts that are converted at once, and of the parts of the result, bytes. */
const PART_BYTES = 1024 * 1024

/**
 * Returns the elements of a JSON array, or objects one after another, as NDJSON. Reads a part at a
 * time, so that the page stays responsive; the browser may keep the result on disk.
 *
 * @throws SourceError if the source is neither, if its array has no end, if text follows the end, or
 * if it is not UTF-8
 */
export async function toLines(source: Blob, signal: AbortSignal): Promise<Blob> {
  const converter = createLineConverter()
  const decode = createDecoder()
  const lines: Blob[] = []
  const isRejected = () => converter.isJson === false || converter.hasTextAfterEnd
  for (let from = 0; from < source.size && !isRejected(); from += PART_BYTES) {
    const bytes = await source.slice(from, from + PART_BYTES).arrayBuffer()
    signal.throwIfAborted()
    const isLast = from + PART_BYTES >= source.size
    lines.push(new Blob([converter.write(decode(bytes, isLast))]))
  }
  const error = converter.isJson === true ? errorAtEnd(converter) : NO_JSON
  if (error !== undefined) throw new SourceError(error)
  return new Blob([...lines, converter.end()])
}

/**
 * Returns a function that decodes a source in parts. The server would not notice characters that
 * were replaced here.
 *
 * @throws SourceError, when called, if the source is not UTF-8
 */
export function createDecoder(): (part: AllowSharedBufferSource, isLast: boolean) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (part, isLast) => {
    try {
      return decoder.decode(part, { stream: !isLast })
    } catch {
      throw new SourceError(NOT_UTF8)
    }
  }
}

/** Returns why a source cannot be imported once all of it was converted; undefined if it can be. */
export function errorAtEnd({ isComplete, hasTextAfterEnd }: LineConverter): string | undefined {
  if (!isComplete) return NO_END
  return hasTextAfterEnd ? TEXT_AFTER_END : undefined
}

export const NO_JSON = 'JSON begins with [ or {. Choose another format.'

const NOT_UTF8 = 'The file is not UTF-8. Save it as UTF-8.'

const NO_END = 'The array is not closed, so the source is probably incomplete.'

const TEXT_AFTER_END = 'Text follows the ] that ends the array.'
