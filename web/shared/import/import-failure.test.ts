import { expect, test } from 'vitest'
import { ApiFailure, NoResponse } from '../../api/client.ts'
import { SourceError, withNote } from './import-failure.ts'

test.each([
  [new SourceError('The file is empty.'), 'The file is empty. Nothing was imported.'],
  [new ApiFailure(422, 0, 'Nothing was imported.', { stored: 0 }), 'Nothing was imported.'],
  [
    new ApiFailure(401, 0, 'You are signed out.'),
    'You are signed out. Documents that are already stored are kept. To continue, import again and keep or replace stored documents.',
  ],
  [
    new NoResponse(undefined),
    'Gatehouse did not respond. Some or all of the documents may have been stored. To continue, import again and keep or replace stored documents.',
  ],
])('An import that ends with %j says what is stored', (error, text) => {
  expect(withNote(error)).toBe(text)
})
