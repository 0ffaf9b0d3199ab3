import { expect, test } from 'vitest'
import { detectFormat } from './read-source.ts'

test.each([
  ['a.csv', '[1]', 'csv'],
  ['a.jsonl', '', 'ndjson'],
  ['a.json', '\uFEFF\n [', 'json'],
  ['a.json', '{"id":"1"}', 'ndjson'],
  ['', '{"id":"1"}', 'ndjson'],
  ['', '{"id":"1"}\n{"id":"2"}', 'ndjson'],
  ['', '{"tags":["a,', 'ndjson'],
  ['', '{\n  "id": "1"\n}', 'json'],
  ['a.json', '{ "tags": [\r\n', 'json'],
  ['', 'id,title', 'csv'],
  ['', 'id\n', 'csv'],
  ['', 'id\ttitle\n1\ta,b', 'tabs'],
  ['a.tsv', 'id', 'tabs'],
  ['a.csv', 'id\ttitle', 'tabs'],
  ['a.csv', 'id;price;"weight, kg; net"\r\n1;3,5;4,5', 'semicolons'],
  ['', '\uFEFFid;title', 'semicolons'],
  ['a.csv', 'id,note;sic', 'csv'],
  ['a.csv', '"a;b",c', 'csv'],
])('The format of %j that begins with %j is %s', (name, begin, format) => {
  expect(detectFormat(name, begin)).toBe(format)
})
