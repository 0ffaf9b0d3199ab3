import { describe, expect, it } from 'vitest'
import { CURSOR_LENGTH, createCursors } from './cursor.ts'
import { parseDocumentQuery } from './query.ts'

const where = { database: 'db', collection: 'articles' }
const queryOf = (text: string, place = where) => {
  const { conditions, sort } = parseDocumentQuery(new URLSearchParams(text))
  return { where: place, conditions, sort }
}
const query = queryOf('a=1&sort=-year,of.town')
const position = { values: [undefined, null, 'é\u{1f600}', 1e308, {}], id: 'a\n"b' }
const cursors = createCursors(new Uint8Array(32))
const rejected = expect.objectContaining({ code: 'bad-parameter', details: { field: 'cursor' } })
const parsing = (cursor: string, { of = query, by = cursors } = {}) => {
  try {
    return by.parse(of, cursor)
  } catch (error) {
    return error
  }
}

describe('a cursor', () => {
  const cursor = cursors.print(query, position)

  it('returns the position of its query', () => {
    expect(createCursors(new Uint8Array(32)).parse(query, cursor)).toEqual(position)
    expect(cursor).toMatch(/^[\w.-]+$/)
  })

  it.each([
    ['filter', queryOf('a=2&sort=-year,of.town')],
    ['operator', queryOf('a:gt=1&sort=-year,of.town')],
    ['direction', queryOf('a=1&sort=year,of.town')],
    ['field to sort by', queryOf('a=1&sort=-year,of\\.town')],
    ['database', { ...query, where: { ...where, database: 'other' } }],
    ['collection', { ...query, where: { ...where, collection: 'other' } }],
  ])('is rejected with another %s', (_, of) => {
    expect(parsing(cursor, { of })).toEqual(rejected)
  })

  it('is rejected with another key', () => {
    const by = createCursors(new Uint8Array(32).fill(1))
    expect(parsing(cursor, { by })).toEqual(rejected)
  })

  it('is rejected if any of it was altered', () => {
    for (const at of cursor.split('').keys()) {
      const other = cursor[at] === 'A' ? 'B' : 'A'
      for (const inserted of [other, '', `${cursor[at]}.`, `${cursor[at]}=`]) {
        const altered = `${cursor.slice(0, at)}${inserted}${cursor.slice(at + 1)}`
        expect(parsing(altered), altered).toEqual(rejected)
      }
    }
    const [payload = '', signature = ''] = cursor.split('.')
    for (const altered of ['', '.', payload, `${payload}.`, `.${signature}`, `.${cursor}`]) {
      expect(parsing(altered), altered).toEqual(rejected)
    }
  })

  it('is limited, so that it fits into a URL', () => {
    const long = (length: number) => ({ values: ['x'.repeat(length)], id: '1' })
    expect(cursors.print(query, long(4_400)).length).toBeLessThanOrEqual(CURSOR_LENGTH)
    expect(() => cursors.print(query, long(4_500))).toThrow('Sort by a field with shorter values.')
  })
})
