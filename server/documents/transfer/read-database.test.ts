import { expect, test } from 'vitest'
import { INDEXES } from '../../contract/document-index.ts'
import { DEPTH } from '../../contract/json/json-limits.ts'
import { DEFINITION_BYTES } from '../../contract/transfer.ts'
import { readRecords } from '../import/read-records.ts'
import { readDatabase } from './read-database.ts'

const LINE_BYTES = 2 * DEFINITION_BYTES

/** Reads an export of one collection with this definition. */
async function read(definition: string) {
  const text = `{"gatehouse":1,"database":"x"}\n${definition}\n{"end":{"collections":1,"documents":0}}\n`
  async function* bytes() {
    yield Buffer.from(text)
  }
  const collections = []
  const records = readRecords(bytes(), 'ndjson', { lineBytes: LINE_BYTES })
  for await (const { definition } of readDatabase(records)) collections.push(definition)
  return collections
}

const define = (schema: string, indexes = '') =>
  `{"collection":"c","schema":${schema},"indexes":[${indexes}]}`
const nested = (depth: number) => `${'{"not":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`
const repeat = (text: string, bytes: number) =>
  Array.from({ length: bytes / (text.length + 1) }, () => text).join()
const padded = (bytes: number) => {
  const around = define('{"title":""}').length
  return define(`{"title":"${'é'.repeat((bytes - around) / 2)}"}`)
}

test.each([
  ['a schema of the maximum depth', define(nested(DEPTH))],
  ['the maximum size', padded(DEFINITION_BYTES)],
])('a definition is read with %s', async (_, line) => {
  expect(await read(line)).toHaveLength(1)
})

test.each([
  [
    'too-large',
    'a size above the limit',
    padded(DEFINITION_BYTES + 2),
    /^Line 2 is larger/,
    undefined,
  ],
  [
    'too-large',
    'many indexes in a long line',
    define('null', repeat('{}', 2 * DEFINITION_BYTES - 100)),
    /^Line 2 is/,
    undefined,
  ],
  [
    'invalid',
    'many indexes',
    define('null', repeat('{}', DEFINITION_BYTES - 100)),
    /^Line 2: .* 65,536 objects and arrays/,
    '',
  ],
  [
    'invalid',
    'more indexes than allowed',
    define('null', repeat('{"name":"n","fields":["a"]}', 28 * (INDEXES + 1))),
    /at most 16 indexes/,
    '/indexes',
  ],
  [
    'invalid',
    'many fields',
    define('null', `{"name":"n","fields":[${repeat('0', DEFINITION_BYTES - 100)}]}`),
    /^Line 2/,
    '/indexes/0/fields',
  ],
  ['invalid', 'a deep schema', define(nested(DEPTH + 1)), /^Line 2: .* 100 levels/, ''],
  ['invalid', 'a very deep schema', define(nested(5_000)), /^Line 2: .* 100 levels/, ''],
  ['invalid', 'a schema of another type', define('1'), /^Line 2/, '/schema'],
])('a definition is rejected as %s with %s', async (code, _, line, message, field) => {
  const details = field === undefined ? {} : { field }
  const expected = { code, details, message: expect.stringMatching(message) }
  await expect(read(line)).rejects.toMatchObject(expected)
})
