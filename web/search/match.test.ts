import { describe, expect, test } from 'vitest'
import { find, searchable } from './match.ts'

const items = (...texts: (string | [text: string, also: string])[]) =>
  texts.map((each) => {
    const [text, also = ''] = typeof each === 'string' ? [each] : each
    return { text, kind: text.split('-')[0] ?? '', searched: searchable(text, also) }
  })
const found = (list: ReturnType<typeof items>, query: string) =>
  find(list, query, 10).best.map(({ text }) => text)

describe('finding', () => {
  test.each([
    // Part of an address.
    ['8530', ['tcp://127.0.0.1:8530', 'tcp://127.0.0.1:18530']],
    // Exact matches first, then prefixes, then starts of words, then other substrings.
    ['end', ['Endpoints', 'Add endpoint', 'Webhook endpoints', 'backend']],
    ['blog', ['blog', 'blog-archive', 'weblog']],
    // Letters in order, with gaps.
    ['edpt', ['Endpoints', 'Add endpoint', 'Webhook endpoints']],
    // The letters are not those of one word.
    ['vera', []],
    // All words, in any order and case.
    ['10.0 SSL', ['ssl://10.0.0.4:443']],
    ['443 ssl', ['ssl://10.0.0.4:443']],
    // A synonym.
    ['listener', ['Endpoints']],
    ['zzz', []],
  ])('%j', (query, expected) => {
    const list = items(
      'tcp://127.0.0.1:18530',
      'tcp://127.0.0.1:8530',
      'ssl://10.0.0.4:443',
      'Add endpoint',
      ['Endpoints', 'listeners ports'],
      'Webhook endpoints',
      ['Rejected requests', 'live requests and rejections'],
      'weblog',
      'blog-archive',
      'blog',
      'backend',
    )
    expect(found(list, query)).toEqual(expected)
  })

  test('returns some matches of each kind, and counts all', () => {
    const many = items(...Array.from({ length: 200 }, (_, n) => `database-${n}`), 'metadata-0')
    const { best, count } = find(many, 'data', 50)
    expect([best.length, best.at(-1)?.text, count]).toEqual([51, 'metadata-0', 201])
  })
})
