import { expect, it } from 'vitest'
import { requireUtf8 } from './charset.ts'

it.each([
  'application/json',
  'application/json; charset=utf-8',
  'text/csv;header=present;CHARSET = "UTF-8"',
  'application/x-ndjson; charset=utf8',
  'text/plain; charset=US-ASCII',
  'application/json; charset=',
  'application/json; charset=""',
  "application/json; charset='utf-8'",
  'application/json; profile="a; charset=latin1"',
  'application/json; profile="a\\"; charset=latin1"; charset="ut\\f-8"',
  'application/json; x-charset=utf-16',
])('accepts the type %s', (type) => {
  expect(() => requireUtf8(type)).not.toThrow()
})

it.each([
  'application/x-ndjson; charset=utf-16',
  'application/json;charset="ISO-8859-1"',
  'text/csv; header=present; Charset = Windows-1252',
  'application/json; charset=utf-8; charset=utf-16',
  'text/csv; charset=utf-80',
  'application/json; profile="a;"; charset=latin1',
  "application/json; charset='latin1'",
])('rejects the type %s', (type) => {
  expect(() => requireUtf8(type)).toThrow('must be UTF-8')
})
