import { expect, test, vi } from 'vitest'
import { previewChanges } from './edit-selected-dialog.tsx'

const documents = [
  { id: 'a', etag: '"1"', json: '{"id":"a","n":1,"of":{"x":1,"y":2}}' },
  { id: 'b', etag: '"2"', json: '{"id":"b","n":2}' },
]

test('a preview has the documents that a patch changes', () => {
  const changesOf = previewChanges(documents)
  expect(changesOf('{"n":2}')).toEqual([
    { document: documents[0], after: { id: 'a', n: 2, of: { x: 1, y: 2 } } },
  ])
  expect(changesOf('{"n":null}').map(({ document }) => document.id)).toEqual(['a', 'b'])
  expect(changesOf('{"of":{"y":2,"x":1}}').map(({ document }) => document.id)).toEqual(['b'])
  expect(changesOf('{"n":')).toEqual([])
})

test('stored documents are parsed once, not for each patch', () => {
  const parse = vi.spyOn(JSON, 'parse')
  const changesOf = previewChanges(documents)
  for (const n of [3, 4, 5]) expect(changesOf(`{"n":${n}}`)).toHaveLength(2)
  const stored = parse.mock.calls.filter(([text]) => text.includes('"id"'))
  expect(stored).toHaveLength(documents.length)
})
