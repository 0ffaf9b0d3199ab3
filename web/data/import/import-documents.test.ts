import { expect, test } from 'vitest'
import { importedFilters } from './import-documents.ts'

test('documents are filtered by the range of their ids, or by each id', () => {
  expect(importedFilters(['b', 'a,b', 'c\\d'])).toEqual({
    among: 'id:in=a\\,b,b,c\\\\d',
    range: 'id:gte=a,b&id:lte=c\\d',
  })
})
