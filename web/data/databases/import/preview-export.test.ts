import { expect, test, vi } from 'vitest'
import { EXPORT_VERSION } from '../../../../server/contract/transfer.ts'
import { FIRST_BYTES, LAST_BYTES, previewExport, readExportPreview } from './preview-export.ts'

const HEAD = '{"gatehouse":1,"database":"blog"}'
const ARTICLES =
  '{"collection":"articles","schema":{"type":"object"},"indexes":[{"name":"by-year","fields":["-year"],"unique":true}]}'
const ZOO = '{"collection":"zoo","schema":null,"indexes":[]}'
const END = '{"end":{"collections":2,"documents":1}}'
const WHOLE = [HEAD, ARTICLES, '{"document":{"id":"one"}}', ZOO, END, ''].join('\n')

const bytes = (text: string) => new TextEncoder().encode(text)
const preview = (text: string) => previewExport(bytes(text), bytes(text.slice(-LAST_BYTES)), true)

test('A preview lists the collections of an export and its counts', () => {
  expect(preview(WHOLE)).toEqual({
    database: 'blog',
    collections: [
      { name: 'articles', hasSchema: true, indexes: 1 },
      { name: 'zoo', hasSchema: false, indexes: 0 },
    ],
    total: { collections: 2, documents: 1 },
    error: undefined,
  })
})

test('A preview accepts line breaks of Windows, blank lines and a byte order mark', () => {
  const text = `\uFEFF${WHOLE.replaceAll('\n', '\r\n')}\r\n \r\n`
  expect(preview(text)).toEqual(preview(WHOLE))
})

test('A document that contains a definition is no collection', () => {
  const text = WHOLE.replace('{"id":"one"}', '{"collection":"no","schema":null,"indexes":[]}')
  expect(preview(text).collections).toHaveLength(2)
})

test.each([
  ['', 'The file is empty.'],
  ['\n \n', 'The file is empty.'],
  ['id,title\none,One\n', /^This is not an export of a database\./],
  ['{"id":"one"}\n', /^This is not an export of a database\./],
  ['[{"id":"one"}]', /^This is not an export of a database\./],
  [WHOLE.replace(HEAD, `${HEAD.slice(0, -1)}`), /^This is not an export of a database\./],
  [WHOLE.replace(END, ''), /^The export is incomplete/],
  [WHOLE.slice(0, -9), /^The export is incomplete/],
  [HEAD, /^The export is incomplete/],
  [
    WHOLE.replace(':1,', ':2,'),
    `The export has version 2 of its format. This server reads version ${EXPORT_VERSION}.`,
  ],
  ['\u0089PNG\u0000', 'This is not a text file.'],
])('The preview of %j says why the server would reject it', (text, error) => {
  const { error: message } = preview(text)
  if (error instanceof RegExp) expect(message).toMatch(error)
  else expect(message).toBe(error)
})

test('Only the first and the last bytes of a large file are read', async () => {
  const document = `{"document":{"text":"${'x'.repeat(FIRST_BYTES)}"}}`
  const file = new Blob([[HEAD, ARTICLES, document, ZOO, END].join('\n')])
  const slice = vi.spyOn(file, 'slice')
  expect(await readExportPreview(file)).toEqual({
    database: 'blog',
    collections: [{ name: 'articles', hasSchema: true, indexes: 1 }],
    total: { collections: 2, documents: 1 },
    error: undefined,
  })
  expect(slice.mock.calls).toEqual([[0, FIRST_BYTES], [-LAST_BYTES]])
})

test('A definition that the first bytes cut off is omitted', async () => {
  const schema = `{"collection":"large","schema":{"title":"${'x'.repeat(FIRST_BYTES)}"},"indexes":[]}`
  const file = new Blob([[HEAD, ARTICLES, schema, END].join('\n')])
  const { collections, error } = await readExportPreview(file)
  expect(collections.map(({ name }) => name)).toEqual(['articles'])
  expect(error).toBeUndefined()
})

test('A file that cannot be read has an error', async () => {
  const file = new Blob([WHOLE])
  vi.spyOn(file, 'slice').mockImplementation(() => {
    throw new Error('The file has changed.')
  })
  expect((await readExportPreview(file)).error).toBe('The file could not be read. Choose it again.')
})
