import { expect, test } from 'vitest'
import { describeDatabaseImport } from './import-database.ts'

const nothing = { collections: 0, created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] }
const errors = [{ line: 2, pointer: '/schema', message: 'The collection has a different schema.' }]

test.each([
  [{}, 'The export contains no documents.'],
  [{ collections: 1, created: 3 }, 'Documents of 1 collection: 3 created.'],
  [
    { collections: 1_200, created: 1, replaced: 2, skipped: 3, failed: 4, errors },
    'Documents of 1,200 collections: 1 created, 2 replaced, 3 skipped, 4 failed.',
  ],
  [
    { collections: 1, skipped: 3, errors },
    'Documents of 1 collection: 0 created, 3 skipped. Some schemas or indexes could not be stored.',
  ],
])('The result %j is described', (result, text) => {
  expect(describeDatabaseImport({ ...nothing, ...result })).toBe(text)
})
