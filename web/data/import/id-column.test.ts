import { expect, test } from 'vitest'
import { idCandidates, readHead, renameToId } from './id-column.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** Returns a file whose column is renamed. */
function rename(text: string, column: string): string {
  const begin = bytes(text)
  const head = readHead(begin, 'comma')
  if (head === undefined) throw new Error('no header')
  const decode = (part: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(part)
  return [begin.subarray(0, head.start), renameToId(head, column), begin.subarray(head.end)]
    .map(decode)
    .join('')
}

test.each([
  ['sku,name\n1,One\n', 'sku', 'id,name\n1,One\n'],
  ['\r\nname, sku \r\n1,2', 'sku', '\nname,id\n1,2'],
  ['\uFEFFsep=;\nsku;"a;""b"\n1;2', 'sku', '\uFEFFsep=;\nid;"a;""b"\n1;2'],
  ['ü,"sku"\n1,2', 'sku', 'ü,id\n1,2'],
])('renames a column of %j', (text, column, expected) => {
  expect(rename(text, column)).toBe(expected)
})

test('offers the columns of a file without ids', () => {
  expect(idCandidates(readHead(bytes('sku, name,,sku\n'), 'comma'))).toEqual(['sku', 'name'])
  expect(idCandidates(readHead(bytes('sku, id\n'), 'comma'))).toEqual([])
  expect(idCandidates(readHead(bytes('a,"b'), 'comma'))).toEqual([])
})
