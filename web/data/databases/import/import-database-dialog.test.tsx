import { expect, test } from 'vitest'
import { ApiFailure, NoResponse } from '../../../api/client.ts'
import { SourceError } from '../../../shared/import/import-failure.ts'
import { importErrors } from './import-database-dialog.tsx'

test.each([
  [new SourceError('The file is empty.'), { file: 'The file is empty.' }],
  [
    new ApiFailure(409, 0, 'on-conflict=skip', { id: 'conflict', field: 'on-conflict' }),
    { onConflict: 'shop contains documents. Choose what happens to them.' },
  ],
  [
    new ApiFailure(404, 0, 'database not found'),
    { form: expect.stringMatching(/^There is no database shop, or the endpoint/) },
  ],
  [
    new ApiFailure(422, 0, 'Line 9 is not part of an export. 5 documents are stored.', {
      stored: 5,
    }),
    { form: expect.stringMatching(/5 documents are stored\. .*To continue, import again/) },
  ],
  [
    new ApiFailure(422, 0, 'The export is incomplete. Nothing was imported.', { stored: 0 }),
    { form: 'The export is incomplete. Nothing was imported.' },
  ],
  [
    new NoResponse(new TypeError('The connection was lost.')),
    { form: expect.stringMatching(/^Gatehouse did not respond\. .*To continue, import again/) },
  ],
])('The failure %j is shown where it can be corrected', (error, errors) => {
  expect(importErrors(error, 'shop')).toEqual(errors)
})
