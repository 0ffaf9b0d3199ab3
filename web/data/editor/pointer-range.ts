import { type Node, parseTree } from 'jsonc-parser'

/** A part of a text, by character indexes. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/**
 * Returns the range of the value that a JSON Pointer (RFC 6901) refers to. For an object or array,
 * returns the range of its key, to avoid marking a large part of the text. If the value does not
 * exist, returns its nearest existing ancestor.
 */
export function pointerRange(text: string, pointer: string): TextRange {
  const root = parseTree(text)
  if (root === undefined) return { from: 0, to: 0 }
  let at = root
  let shown = startOf(root)
  for (const step of stepsOf(pointer)) {
    const property = at.type === 'object' ? at.children?.find(isNamed(step)) : undefined
    const value = property === undefined ? element(at, step) : property.children?.[1]
    if (value === undefined) break
    at = value
    const isLong = value.type === 'object' || value.type === 'array'
    const key = property?.children?.[0]
    shown = isLong ? (key ? rangeOf(key) : startOf(value)) : rangeOf(value)
  }
  return shown
}

/** Returns the line number of an index, starting at 1. */
export const lineAt = (text: string, index: number): number =>
  text.slice(0, index).split('\n').length

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const isNamed = (name: string) => (property: Node) => property.children?.[0]?.value === name

const element = (array: Node, step: string) =>
  array.type === 'array' && /^(?:0|[1-9]\d*)$/.test(step)
    ? array.children?.[Number(step)]
    : undefined

const startOf = ({ offset }: Node): TextRange => ({ from: offset, to: offset + 1 })

const rangeOf = ({ offset, length }: Node): TextRange => ({ from: offset, to: offset + length })
