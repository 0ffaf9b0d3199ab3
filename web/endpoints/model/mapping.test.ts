import { expect, test } from 'vitest'
import { formatChange, formatMapping, missingDatabases } from './mapping.ts'

const existing = ['_system', 'archive', 'blog', 'shop']

test.each([
  [
    [],
    'Requests without a database name go to _system. Every other database is available by its name.',
  ],
  [['blog'], 'Requests without a database name go to blog. No other is available.'],
  [['blog', 'shop'], 'Requests without a database name go to blog. This is also available: shop.'],
  [
    ['blog', 'shop', 'archive'],
    'Requests without a database name go to blog. These are also available: shop and archive.',
  ],
  [['blog', 'gone'], 'Requests without a database name go to blog. No other is available.'],
  [['gone', 'blog'], 'Requests without a database name get 404. This is available: blog.'],
  [['gone'], 'Requests without a database name get 404. No database is available.'],
])('%j is described as "%s"', (mapping, sentence) => {
  expect(formatMapping(mapping, existing)).toBe(sentence)
})

test.each([
  [['blog', 'archive'], ['blog'], ['No longer available here: archive.']],
  [['blog'], ['blog', 'shop'], ['Newly available here: shop.']],
  [['blog', 'shop'], ['shop', 'blog'], ['The default changes from blog to shop.']],
  [
    [],
    ['shop'],
    [
      'No longer available here: _system, archive and blog.',
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
