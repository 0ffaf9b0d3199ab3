import { jsonLanguage } from '@codemirror/lang-json'

/** A part of a text, by the indices of its characters. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** A node of the syntax tree, as far as it is needed here. */
interface SyntaxNode {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly firstChild: SyntaxNode | null
  readonly nextSibling: SyntaxNode | null
}

const VALUES = ['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null']

/**
 * Where in a JSON text the value stands that a JSON Pointer (RFC 6901) leads to. Of an object or array
 * its key is told, for the whole would be half of the text; of what is not there, the part that leads
 * farthest.
 */
export function pointerRange(text: string, pointer: string): Range {
  const root = valueIn(jsonLanguage.parser.parse(text).topNode)
  if (root === undefined) return { from: 0, to: 0 }
  let at: SyntaxNode = root
  let shown: Range = { from: root.from, to: root.from + 1 }
  for (const step of stepsOf(pointer)) {
    const found = at.name === 'Object' ? member(at, step, text) : element(at, step)
    if (found === undefined) break
    at = found.value
    const long = at.name === 'Object' || at.name === 'Array'
    shown = long ? (found.key ?? { from: at.from, to: at.from + 1 }) : rangeOf(at)
  }
  return shown
}

/** The line in which an index stands, from 1. */
export const lineAt = (text: string, index: number): number =>
  text.slice(0, index).split('\n').length

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

interface Found {
  readonly value: SyntaxNode
  readonly key?: Range
}

function member(object: SyntaxNode, name: string, text: string): Found | undefined {
  for (const property of childrenOf(object)) {
    const key = property.firstChild
    if (property.name !== 'Property' || key === null) continue
    if (nameOf(text.slice(key.from, key.to)) !== name) continue
    const value = valueIn(property)
    return value && { value, key: rangeOf(key) }
  }
  return undefined
}

function element(array: SyntaxNode, step: string): Found | undefined {
  if (array.name !== 'Array' || !/^(?:0|[1-9]\d*)$/.test(step)) return undefined
  const value = childrenOf(array).filter(({ name }) => VALUES.includes(name))[Number(step)]
  return value && { value }
}

/** What a key is called: it may be written with escapes. */
function nameOf(key: string): string | undefined {
  try {
    return JSON.parse(key) as string
  } catch {
    return undefined
  }
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child)
  return children
}

const valueIn = (node: SyntaxNode) => childrenOf(node).find(({ name }) => VALUES.includes(name))

const rangeOf = ({ from, to }: SyntaxNode): Range => ({ from, to })
