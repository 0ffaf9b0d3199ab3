import { describe, expect, it, vi } from 'vitest'
import { printFieldPath } from '../../contract/query/field-path.ts'
import { Failure } from '../../failure.ts'
import { parseDocumentQuery, parseFilterQuery, requireOwnFilters } from './query.ts'
import { createFieldSelector } from './select-fields.ts'

const parse = (text: string) => parseDocumentQuery(new URLSearchParams(text))

describe('parseDocumentQuery', () => {
  it('separates filters from the other parameters', () => {
    const query = parse(
      'author.name=ada&sort=-year,title&limit=5&fields=title,a\\,b&sort:eq=x&q:eq=y',
    )
    expect(query).toMatchObject({
      conditions: [
        { name: 'author.name', path: ['author', 'name'], operator: 'eq', text: 'ada' },
        { name: 'sort:eq', path: ['sort'], operator: 'eq', text: 'x' },
        { name: 'q:eq', path: ['q'], operator: 'eq', text: 'y' },
      ],
      sort: [
        { path: ['year'], isDescending: true },
        { path: ['title'], isDescending: false },
      ],
      fields: [['title'], ['a,b']],
      limit: 5,
    })
    expect(query.matches?.({ author: { name: 'ada' }, sort: 'x', q: 'y' })).toBe(true)
  })

  it.each([
    ['limt=5', 'limt', /Did you mean limit\? .* write limt:eq=…/],
    [
      'n%5Bgt%5D=5',
      'n[gt]',
      /^There is no parameter "n\[gt\]"\. Use a filter such as year:gte=2000\./,
    ],
    ['n>5', 'n>5', /Use a filter such as/],
    ['n>=5', 'n>', /Use a filter such as/],
    ['n!=5', 'n!', /Use a filter such as .* write n!:eq=…/],
    ['limitt=5', 'limitt', /Did you mean limit\?/],
    ['srot=a', 'srot', /Did you mean sort\?/],
    ['Limit=5', 'Limit', /Did you mean limit\? .* write Limit:eq=…/],
    ['field=a', 'field', /Did you mean fields\?/],
    ['page=2', 'page', /Link header/],
    ['perPage=20', 'perPage', /Use limit\. .* write perPage:eq=…/],
    ['select=a', 'select', /Use fields/],
    ['filter=a', 'filter', /Use a filter such as/],
    ['count=1', 'count', /Prefer: count=exact/],
    ['_x=1', '_x', /Parameters are limit, after, sort/],
    ['limit=1&limit=2', 'limit', /more than once/],
    ['limit=0', 'limit', /from 1 to 1000/],
    ['sort=', 'sort', /names no field/],
    ['sort=a,b,c,d,e,f,g,h,i', 'sort', /maximum is 8/],
    ['fields=-a', 'fields', /without a hyphen/],
    ['sort=a&after=x', 'after', /order of ids only/],
    ['sort=a\\b', 'sort', /backslash/],
    ['sort=year:desc', 'sort', /backslash must precede a colon .* sort=-year/],
    ['fields=a:b', 'fields', /backslash must precede a colon/],
  ])('rejects %s', (text, field, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: 'bad-parameter',
        details: { field },
        message: expect.stringMatching(message),
      }),
    )
  })

  it.each([
    ['id', ''],
    ['id,year', ''],
    ['year,id,title', 'year'],
    ['-id,year', '-id'],
    ['year,-id,id', 'year,-id'],
    ['author.id', 'author.id'],
  ])('sorts by %s up to the id', (given, expected) => {
    const { sort } = parse(`sort=${given}`)
    const texts = sort.map((each) => (each.isDescending ? '-' : '') + printFieldPath(each.path))
    expect(texts.join()).toBe(expected)
  })

  it.each(['port=1', 'a.sort=1', 'limit:gt=1', '_x:eq=1', 'shirt=1'])('accepts %s', (text) => {
    expect(parse(text).conditions).toHaveLength(1)
  })

  it.each([['author', 'a.b', '-x', 'a,b:c\\d', '']])(
    'formats a path as it was parsed',
    (...path) => {
      expect(parse(`sort=${encodeURIComponent(printFieldPath(path))}`).sort).toEqual([
        { path, isDescending: false },
      ])
    },
  )
})

describe('requireOwnFilters', () => {
  const reasonOf = (text: string) => {
    try {
      requireOwnFilters(parse(text).conditions)
    } catch (error) {
      return error instanceof Failure && error.code === 'bad-parameter' ? error.message : error
    }
    return undefined
  }

  it.each([
    ['views_gte=5', 'views:gte=…'],
    ['title_like=sea', 'title:contains=…'],
    ['author.born__gte=5', 'author.born:gte=…'],
    ['views__in=1,2', 'views:in=…'],
    ['title__iexact=a', 'title=…'],
    ['title__istartswith=a', 'title:starts=…'],
    ['title_starts_with=a', 'title:starts=…'],
    ['title__isnull=True', 'title:exists=false'],
    ['title=eq.b', 'title=…'],
    ['views=gte.5', 'views:gte=…'],
    ['title=neq.b', 'title:ne=…'],
    ['title=not.eq.b', 'title:ne=…'],
    ['title=like.*b*', 'title:contains=…'],
    ['title=in.(a,b)', 'title:in=…'],
    ['tags=cs.{a}', 'tags:contains=…'],
    ['title=is.null', 'title=null'],
    ['or=(title.eq.a,title.eq.b)', 'year:in=…'],
    ['not.and=(a.gte.0)', 'year:in=…'],
    ['$filter=views ge 5', 'year:gte=2000'],
    ['$top=5', 'limit=…'],
    ['$orderby=a', 'sort=year'],
    ['orderBy=a', 'sort=year'],
    ['page_size=5', 'limit=…'],
    ['include_docs=true', 'nothing instead'],
    ['descending=true', 'sort=-id'],
    ['startkey="a"', 'id:gte=…'],
    ['endkey_docid=a', 'id:lte=…'],
    ['expand=author', 'id:in=…'],
  ])('%s is advised to be %s', (text, ours) => {
    const name = text.split('=')[0]
    const reason = reasonOf(text)
    expect(reason).toContain(`The filter "${name}" has the form of another server. Write ${ours}`)
    expect(reason).toContain(`write ${name}:eq=…`)
  })

  it.each([
    'views:gte=5',
    'views_gte:eq=5',
    'title:eq=eq.b',
    'title=equal.b',
    'title=in.txt',
    'logged_in=true',
    'gte=5',
    '_gte:eq=5',
    'tags:contains=a&tags:contains=b',
    'a=1&b=1&a:ne=1',
  ])('%s is a filter of this server', (text) => {
    expect(reasonOf(text)).toBeUndefined()
  })

  it.each(['a=1&a=2', 'a=1&a:eq=2', 'a=1&b=1&a=1'])('%s names a field twice', (text) => {
    expect(reasonOf(text)).toMatch(/^"a(:eq)?" is given more than once.* author:in=ada,grace/)
  })

  it('applies to every change', () => {
    expect(() => parseFilterQuery(new URLSearchParams('a_gte=1'))).toThrow(/Write a:gte=…/)
    expect(() => parseFilterQuery(new URLSearchParams('a=1&a=2'))).toThrow(/more than once/)
  })
})

describe('A time whose plus sign is not encoded', () => {
  it.each([
    'at:gte=2026-01-31T00:00:00+02:00',
    'at=2026-01-31T00:00+0200',
    'at:in=x,2026-01-31T00:00:00.5+02:00',
  ])('%s is rejected', (text) => {
    for (const parsing of [parseDocumentQuery, parseFilterQuery]) {
      expect(() => parsing(new URLSearchParams(text))).toThrow(/Write %2B/)
      expect(() => parsing(new URLSearchParams(text.replace('+', '%2B')))).not.toThrow()
    }
  })
})

describe('parseFilterQuery', () => {
  it.each(['limit=5', 'after=a', 'sort=a', 'fields=a', 'cursor=a'])('rejects %s', (text) => {
    expect(() => parseFilterQuery(new URLSearchParams(text))).toThrow(/Nothing was changed/)
  })
})

describe('createFieldSelector', () => {
  it('accepts a field of thousands of names', () => {
    const path = Array.from({ length: 15_000 }, () => 'a')
    expect(createFieldSelector([path])('{"id":"1","a":{"a":1}}')).toBe('{"id":"1"}')
  })

  it('keeps the nesting and order of the document', () => {
    const select = createFieldSelector([
      ['title'],
      ['author', 'name'],
      ['none', 'x'],
      ['list', '0'],
    ])
    const document = { title: 't', author: { mail: 'm', name: 'ada' }, id: '1', list: [1], x: 1 }
    expect(select(JSON.stringify(document))).toBe('{"title":"t","author":{"name":"ada"},"id":"1"}')
  })

  it('parses no values', () => {
    const parse = vi.spyOn(JSON, 'parse')
    const body = `{"id":"1","list":[${'{},'.repeat(20_000)}0],"a":{"b":"\\"}","c":1}}`
    const selected = createFieldSelector([['list'], ['a', 'b']])(body)
    const calls = parse.mock.calls.length
    parse.mockRestore()
    expect([calls, selected]).toEqual([0, body.replace(',"c":1', '')])
  })

  it('selects a whole field if a part of it is selected too', () => {
    for (const paths of [
      [['a'], ['a', 'b']],
      [['a', 'b'], ['a']],
    ]) {
      const body = '{"id":"1","a":{"b":1,"c":2}}'
      expect(createFieldSelector(paths)(body)).toBe(body)
    }
  })
})
