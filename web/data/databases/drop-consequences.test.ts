import { expect, test } from 'vitest'
import { toDatabaseRows } from './database-rows.ts'
import { dropConsequences } from './drop-consequences.ts'

const endpoints = [
  { endpoint: 'tcp://127.0.0.1:1', databases: ['blog'] },
  { endpoint: 'tcp://127.0.0.1:2', databases: ['shop', 'blog'] },
]
function sentencesOf(documents: number | null, databases = endpoints) {
  const size = documents === null ? null : { collections: 1, documents, bytes: 2_000 }
  const [row] = toDatabaseRows(
    ['blog'],
    size === null ? [] : [{ database: 'blog', measured: '2026-01-01T00:00:00Z', ...size }],
    databases,
  )
  if (row === undefined) throw new Error('no row')
  return dropConsequences(row, true).map((parts) =>
    parts.map((part) => (typeof part === 'string' ? part : part.address)).join(''),
  )
}

test('the lost data is counted', () => {
  expect(sentencesOf(1_203)[0]).toBe(
    'Its 1,203 documents in 1 collection (2 kB) will be deleted permanently.',
  )
  expect(sentencesOf(1)[0]).toMatch(/^Its 1 document in .* will be deleted/)
  expect(sentencesOf(0)[0]).toBe('It contains no documents.')
  expect(sentencesOf(null)[0]).toContain('have not been counted yet')
})

test('the endpoints that list it and those with it as default are named', () => {
  const sentences = sentencesOf(1).join(' ')
  expect(sentences).toContain('tcp://127.0.0.1:1 and tcp://127.0.0.1:2 list it')
  expect(sentences).toContain('It is the default of tcp://127.0.0.1:1.')
  expect(sentencesOf(1, []).at(-1)).toBe('No endpoint lists it in its mapping.')
  const many = Array.from({ length: 5 }, (_, n) => ({
    endpoint: `e${n}`,
    databases: ['x', 'blog'],
  }))
  expect(sentencesOf(1, many).at(-1)).toContain('e0, e1, e2 and 2 more list it')
})

test('the same endpoints are listed once', () => {
  const named = (count: number, ...mapping: string[]) =>
    Array.from({ length: count }, (_, n) => ({ endpoint: `e${n}`, databases: mapping }))
  const all = sentencesOf(1, named(3, 'blog'))
  expect(all.at(-2)).toMatch(/^e0, e1 and e2 list it/)
  expect(all.at(-1)).toMatch(/^It is the default there\./)
  const some = [...named(4, 'blog'), { endpoint: 'e4', databases: ['shop', 'blog'] }]
  expect(sentencesOf(1, some).at(-1)).toMatch(/^It is the default of 4 of them\./)
})
