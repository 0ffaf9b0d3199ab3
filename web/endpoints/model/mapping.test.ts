import { expect, test } from 'vitest'
import { formatChange, formatMapping, missingDatabases } from './mapping.ts'

test.each([
  [
    [],
    'Requests that name no database reach _system. Every other database is reachable by its name.',
  ],
  [['blog'], 'Requests that name no database reach blog. No other is reachable.'],
  [['blog', 'shop'], 'Requests that name no database reach blog. Also reachable: shop.'],
  [['a', 'b', 'c'], 'Requests that name no database reach a. Also reachable: b and c.'],
])('%j is described as "%s"', (mapping, sentence) => {
  expect(formatMapping(mapping)).toBe(sentence)
})

const existing = ['_system', 'archive', 'blog', 'shop']

test.each([
  [['blog', 'archive'], ['blog'], ['No longer reachable here: archive.']],
  [['blog'], ['blog', 'shop'], ['Newly reachable here: shop.']],
  [['blog', 'shop'], ['shop', 'blog'], ['The default changes from blog to shop.']],
  [
    [],
    ['shop'],
    [
      'No longer reachable here: _system, archive and blog.',
      'The default changes from _system to shop.',
    ],
  ],
  [['later'], ['later'], []],
])('from %j to %j', (before, after, sentences) => {
  expect(formatChange(before, after, existing)).toEqual(sentences)
})

test('a name is missing only if the databases are loaded', () => {
  expect(missingDatabases(['blog', 'press'], existing)).toEqual(['press'])
  expect(missingDatabases(['blog', 'press'], undefined)).toEqual([])
})
