import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { DOCUMENT_BYTES } from '../../contract/document.ts'
import { STRUCTURES } from '../../contract/json/json-limits.ts'
import { CSV_COLUMNS } from '../../contract/records/csv-record.ts'
import type { ImportFormat, ImportRecord } from '../../contract/records/import-record.ts'
import { pacedRecords, type ReadOptions, readRecords } from './read-records.ts'

/** Reads a body that arrives in chunks; errors become their messages. */
const read = (format: ImportFormat, ...chunks: readonly (string | Uint8Array)[]) =>
  readWith({}, format, ...chunks)

async function readWith(
  options: ReadOptions,
  format: ImportFormat,
  ...chunks: readonly (string | Uint8Array)[]
) {
  async function* bytes() {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const records: [line: number, textOrMessage: string][] = []
  for await (const part of readRecords(bytes(), format, options)) {
    for (const each of part) {
      records.push([each.line, 'text' in each ? each.text : `! ${each.failure.message}`])
    }
  }
  return records
}

const LARGE = 'x'.repeat(DOCUMENT_BYTES + 1)
const TOO_LARGE = '! A document can be at most 1 MiB.'
/** Returns a header with fields that are nested 100 levels deep. */
const nestedColumns = (count: number) =>
  Array.from({ length: count }, (_, at) => `${'a.'.repeat(99)}${at}`).join()
const BAD_QUOTE =
  '! A cell that contains a quote must be quoted, and its quotes doubled. The import ends at this line.'

describe('NDJSON', () => {
  test.each<[string, string | Uint8Array, [number, string][]]>([
    ['no line', '', []],
    [
      'lines, the last without a line break',
      '{"a":1}\n{"a":2}',
      [
        [1, '{"a":1}'],
        [2, '{"a":2}'],
      ],
    ],
    [
      'CRLF',
      '{}\r\n[]\r\n',
      [
        [1, '{}'],
        [2, '[]'],
      ],
    ],
    ['blank lines', '\n  \n\r\n{}\n\n', [[4, '{}']]],
    [
      'a byte order mark',
      '\ufeff{}\n\ufeff{}',
      [
        [1, '{}'],
        [2, '\ufeff{}'],
      ],
    ],
    ['only a byte order mark', '\ufeff', []],
    [
      'bytes that are not UTF-8',
      Buffer.from('ff0a7b7d', 'hex'),
      [
        [1, '! The line is not UTF-8. Save the file as UTF-8.'],
        [2, '{}'],
      ],
    ],
    [
      'a line that is too large',
      `{}\n${LARGE}\n{}`,
      [
        [1, '{}'],
        [2, TOO_LARGE],
        [3, '{}'],
      ],
    ],
    ['a last line that is too large', LARGE, [[1, TOO_LARGE]]],
  ])('%s', async (_, body, records) => {
    expect(await read('ndjson', body)).toEqual(records)
  })
})

describe('CSV', () => {
  test.each<[string, string, [number, string][]]>([
    ['only a header', 'id,a\r\n', []],
    [
      'cells that are missing',
      'id,a,b\n1,,x\n2,,\n',
      [
        [2, '{"id":"1","b":"x"}'],
        [3, '{"id":"2"}'],
      ],
    ],
    ['semicolons and tabs in cells', 'a\n1;2\t3', [[2, '{"a":"1;2\\t3"}']]],
    ['nested fields', 'a.b,a.c.d,a\\.b\n1,2,3', [[2, '{"a":{"b":1,"c":{"d":2}},"a.b":3}']]],
    ['__proto__', '__proto__.a,b\n1,2', [[2, '{"__proto__":{"a":1},"b":2}']]],
    ['quoted cells', '"a","b"\n"x,""y"" ","1"\n', [[2, '{"a":"x,\\"y\\" ","b":"1"}']]],
    [
      'spaces around names',
      ' id,a\t,\u00a0b.c ," d "\n1,2, 3,4',
      [[2, '{"id":"1","a":2,"b":{"c":" 3"}," d ":4}']],
    ],
    [
      'line breaks in cells',
      'a,b\r\n"1\r\n2","\n"\r\n3,4',
      [
        [2, '{"a":"1\\r\\n2","b":"\\n"}'],
        [5, '{"a":3,"b":4}'],
      ],
    ],
    ['a quoted header after a byte order mark', '\ufeff"a\nb"\n1', [[3, '{"a\\nb":1}']]],
    [
      'values',
      'a,b,c\ntrue,null,-1.50\n"[1, 2]","{""x"":{}}",1e3',
      [
        [2, '{"a":true,"b":null,"c":-1.5}'],
        [3, '{"a":[1,2],"b":{"x":{}},"c":1000}'],
      ],
    ],
    [
      'strings',
      'a,b,c\nTrue, 1,2026-01-05\n-0,12345678901234567890,[1\n007,+1,""""',
      [
        [2, '{"a":"True","b":" 1","c":"2026-01-05"}'],
        [3, '{"a":"-0","b":"12345678901234567890","c":"[1"}'],
        [4, '{"a":"007","b":"+1","c":"\\""}'],
      ],
    ],
    [
      'cells that no document can contain',
      `a,b\n1,${'['.repeat(101)}${']'.repeat(101)}\n"[${'[],'.repeat(STRUCTURES)}0]",1\n1,[`,
      [
        [2, '! JSON can be nested at most 100 levels deep.'],
        [3, '! JSON can contain at most 65,536 objects and arrays.'],
        [4, '{"a":1,"b":"["}'],
      ],
    ],
    [
      'guarded cells',
      "id,a,b\n'@x,'=1+1,'a\n'-1,'-1,'",
      [
        [2, '{"id":"@x","a":"=1+1","b":"\'a"}'],
        [3, '{"id":"-1","a":"-1","b":"\'"}'],
      ],
    ],
    ['quoted names that are empty', 'a,"","b."\n1,2,3', [[2, '{"a":1,"":2,"b":{"":3}}']]],
    ['blank lines', '\n \na,b\n\n  \n1,2\n\r\n', [[6, '{"a":1,"b":2}']]],
    [
      'spaces in the only column',
      'id\n \n\n\t\r\n"  "\n',
      [
        [2, '{"id":" "}'],
        [4, '{"id":"\\t"}'],
        [5, '{"id":"  "}'],
      ],
    ],
    [
      'another number of cells',
      'a,b\n1\n1,2,3\n1,2',
      [
        [2, '! The line has 1 cell, but the header has 2.'],
        [3, '! The line has 3 cells, but the header has 2.'],
        [4, '{"a":1,"b":2}'],
      ],
    ],
    [
      'a quote inside a cell',
      'a,b\n1,2\n\n5" disk,1\n1,2',
      [
        [2, '{"a":1,"b":2}'],
        [4, BAD_QUOTE],
      ],
    ],
    [
      'text after a quoted cell',
      'a\n"x\ny"\n"a"b\n1',
      [
        [2, '{"a":"x\\ny"}'],
        [4, BAD_QUOTE],
      ],
    ],
    [
      'a quote that is not closed',
      'a\n1\n"2\n3',
      [
        [2, '{"a":1}'],
        [3, '! A quoted cell has no closing quote.'],
      ],
    ],
  ])('%s', async (_, body, records) => {
    expect(await read('csv', body)).toEqual(records)
  })

  test.each<[string, string, [number, string][]]>([
    ['a semicolon', 'sep=;\r\na;b\r\n1;"x;y"\r\n', [[3, '{"a":1,"b":"x;y"}']]],
    ['a tab, after a byte order mark', '\ufeffSEP=\t\na\tb\n"1,"\t2', [[3, '{"a":"1,","b":2}']]],
    ['a comma', 'sep=,\na,b\n1,2', [[3, '{"a":1,"b":2}']]],
    ['another character', 'sep=|\n1', [[2, '{"sep=|":1}']]],
    [
      'the second line',
      '"a;b"\nsep=;\n1',
      [
        [2, '{"a;b":"sep=;"}'],
        [3, '{"a;b":1}'],
      ],
    ],
  ])('whose first line names the separator: %s', async (_, body, records) => {
    expect(await read('csv', body)).toEqual(records)
    expect(await read('csv', ...body)).toEqual(records)
  })

  test.each([
    ['a name that is empty', 'a,,b'],
    ['a trailing comma', 'a,b,'],
    ['a quoted empty name twice', '"",a,""'],
    ['a name twice', 'a,b,a'],
    ['a name twice, with other spaces', 'a,b,a '],
    ['only spaces as a name', 'a, ,b'],
    ['spaces around the id in quotes', '"id ",a'],
    ['a name nested in another one', 'a.b.c,a.b'],
    ['a name that contains a path with an empty name', 'a..b'],
    ['a stray quote', 'a"b'],
    ['a backslash', 'a\\x'],
    ['too many columns', 'a,'.repeat(1000)],
    ['too many levels', 'a.'.repeat(100)],
    ['too many names of nested fields', nestedColumns(21)],
    ['names that are too long', 'a'.repeat(CSV_COLUMNS.characters + 1)],
    ['a header that is too large', LARGE],
  ])('rejects a file whose header has %s', async (_, header) => {
    await expect(read('csv', `${header}\n1,2`)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('The header is invalid.'),
    })
  })

  test.each([
    ['a colon without a backslash', 'id,a:eq\n1,2', 'In the column "a:eq", write \\: for a colon'],
    ['lines that end with a carriage return', 'id,a\r1,2\r3,4', 'A line must end with'],
    ['another separator', 'id;a\n1;2', 'only the column "id;a". Choose the separator'],
  ])('rejects a file with %s', async (_, body, message) => {
    await expect(read('csv', body)).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(message),
    })
  })
})

test('keeps every cell of CSV as a string if requested', async () => {
  const body = 'id,a,b,c\n1,12E4,00123,\n2,"[1]",true,\'=1\n'
  expect(await read('csv', body)).toEqual([
    [2, '{"id":"1","a":120000,"b":"00123"}'],
    [3, '{"id":"2","a":[1],"b":true,"c":"=1"}'],
  ])
  expect(await readWith({ types: 'string' }, 'csv', body)).toEqual([
    [2, '{"id":"1","a":"12E4","b":"00123"}'],
    [3, '{"id":"2","a":"[1]","b":"true","c":"=1"}'],
  ])
})

test.each([
  ['a header', '', 'x', 0],
  ['a quoted header', '"a', 'x', 0],
  ['a cell', 'a\n1\n', 'x', 3],
  ['a quoted cell', 'a\n1\n"\n', 'x', 3],
  ['many cells', 'a\n1\n', ',', 3],
])('ends at %s that is too large before the rest arrives', async (_, begin, rest, line) => {
  let sent = 0
  async function* bytes() {
    yield Buffer.from(begin)
    for (; sent < 4 * DOCUMENT_BYTES; sent += 16 * 1024) yield Buffer.alloc(16 * 1024, rest)
  }
  const records: ImportRecord[] = []
  const reading = (async () => {
    for await (const part of readRecords(bytes(), 'csv')) records.push(...part)
  })()
  const message = expect.stringContaining('A document can be at most 1 MiB. Check whether a quote')
  if (line === 0) await expect(reading).rejects.toMatchObject({ code: 'invalid', message })
  else {
    await reading
    expect(records).toMatchObject([{ line: 2 }, { line, failure: { message } }])
  }
  expect(sent).toBeLessThanOrEqual(DOCUMENT_BYTES)
})

test('rejects only the lines of CSV that are not UTF-8', async () => {
  const file = Buffer.concat([
    Buffer.from('\ufeffa\n1\n'),
    Buffer.from('ff0a22c30a2800220a', 'hex'),
    Buffer.from('\ufffd'),
  ])
  expect(await read('csv', file)).toEqual([
    [2, '{"a":1}'],
    [3, '! The line is not UTF-8. Save the file as UTF-8.'],
    [4, '! The line is not UTF-8. Save the file as UTF-8.'],
    [6, '{"a":"\ufffd"}'],
  ])
})

test('accepts a quoted name of the only column that contains another separator', async () => {
  expect(await read('csv', '"a;b"\n1')).toEqual([[2, '{"a;b":1}']])
})

test('accepts the longest names of columns', async () => {
  const name = 'a'.repeat(CSV_COLUMNS.characters)
  expect(await read('csv', `${name}\n1`)).toEqual([[2, `{"${name}":1}`]])
  expect(await read('csv', `${nestedColumns(20)}\n${','.repeat(19)}`)).toEqual([[2, '{}']])
})

test('rejects a record that the names of its columns make too large', async () => {
  const columns = Array.from({ length: 3 }, (_, at) => `${'x'.repeat(1_000)}${at}`)
  const cell = 'y'.repeat(DOCUMENT_BYTES / 3 - 500)
  expect(await read('csv', `${columns}\n${cell},${cell},${cell}\n1,,`)).toEqual([
    [2, TOO_LARGE],
    [3, `{"${columns[0]}":1}`],
  ])
})

test('accepts a carriage return in the quoted name of a column', async () => {
  expect(await read('csv', 'id,"a\rb"\r\n1,x\r\n')).toEqual(
    await read('ndjson', '\n{"id":"1","a\\rb":"x"}'),
  )
})

it('counts the objects and arrays of a record of CSV across its cells', async () => {
  const cell = (count: number) => `"[${'[],'.repeat(count - 1)}0]"`
  const half = STRUCTURES / 2
  const [most, over, text] = await read(
    'csv',
    `a,b\n${cell(half)},${cell(half - 1)}\n${cell(half)},${cell(half)}\n`,
    // Not JSON, so the cell would be a string.
    `${cell(half)},"[${'[]'.repeat(half)}]"`,
  )
  expect(most?.[1]).toMatch(/^\{"a":\[\[\],/)
  const tooMany = 'JSON can contain at most 65,536 objects and arrays.'
  expect(over).toEqual([3, `! ${tooMany}`])
  expect(text).toEqual([4, `! ${tooMany}`])
})

it('gives the same records however the bytes are split into chunks', async () => {
  const line = fc.oneof(
    fc.constantFrom('{"a":1}', '"', ',', '\r', '\n', '""', '\ufeff', 'é😀', '\\', "'=", ''),
    fc.string({ unit: 'grapheme' }),
  )
  const body = fc
    .array(line, { maxLength: 20 })
    .map((parts) => Buffer.from(`a,b\n${parts.join('')}`))
  const boundaries = fc.array(fc.nat(60), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('csv', 'ndjson'),
      body,
      boundaries,
      async (format, bytes, at) => {
        const ends = [...at.sort((one, other) => one - other), bytes.length]
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
        expect(await read(format as ImportFormat, ...chunks)).toEqual(
          await read(format as ImportFormat, bytes),
        )
      },
    ),
  )
})

it('yields parts of a bounded number of records and bytes', async () => {
  async function* bytes() {
    yield Buffer.from('{}\n'.repeat(600))
    yield Buffer.from(`"${'x'.repeat(200_000)}"\n`.repeat(3))
  }
  const sizes: number[] = []
  for await (const part of readRecords(bytes(), 'ndjson')) sizes.push(part.length)
  expect(sizes).toEqual([250, 250, 102, 1])
})

it('counts the names of columns as bytes of a part', async () => {
  async function* bytes() {
    yield Buffer.from(`${'a'.repeat(60_000)}\n${'1\n'.repeat(12)}`)
  }
  const sizes: number[] = []
  for await (const part of readRecords(bytes(), 'csv')) sizes.push(part.length)
  expect(sizes).toEqual([10, 2])
})

it('counts the cells of a record as bytes of a part', async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `c${at}`).join()
  async function* bytes() {
    yield Buffer.from(`${names}\n${`${'1,'.repeat(999)}1\n`.repeat(12)}`)
  }
  const sizes: number[] = []
  for await (const part of readRecords(bytes(), 'csv')) sizes.push(part.length)
  expect(sizes).toEqual([3, 4, 4, 1])
})

it('yields an empty part after thousands of cells without the end of a record', async () => {
  async function* bytes() {
    yield Buffer.from(`a\n${','.repeat(10_000)}`)
  }
  const sizes: number[] = []
  for await (const part of readRecords(bytes(), 'csv')) sizes.push(part.length)
  expect(sizes).toEqual([0, 0, 1])
})

test('other work runs between parts, also between those that are empty', async () => {
  const record = { line: 1, text: '{}' }
  async function* parts(): AsyncGenerator<ImportRecord[]> {
    for (let n = 0; n < 20; n++) yield []
    yield [record]
  }
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const read: (readonly ImportRecord[])[] = []
  for await (const part of pacedRecords(parts())) read.push(part)
  clearImmediate(next)
  expect(read).toEqual([[record]])
  expect(turns).toBeGreaterThanOrEqual(20)
})
