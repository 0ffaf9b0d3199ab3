import { expect, test } from 'vitest'
import { readJson } from './client.ts'

const messageOf = (status: number, body: BodyInit) =>
  readJson(Promise.resolve(new Response(body, { status }))).then(
    () => 'none',
    (error: Error) => error.message,
  )

test.each([
  ['the server’s message', 400, '{"errorMessage":"Invalid."}', 'Invalid.'],
  ['the server’s message about a document', 409, '{"message":"Taken."}', 'Taken.'],
  [
    'a sign-in',
    401,
    '{"message":"Sign in or send a token."}',
    'You are signed out. Sign in again.',
  ],
  [
    'a missing database',
    404,
    '{"id":"database_not_found","message":"database not found"}',
    'The database does not exist. It may have been dropped.',
  ],
  ['the status', 502, '<p>', 'The server responded with 502 and no error message.'],
])('a rejected request reports %s', async (_, status, body, message) => {
  expect(await messageOf(status, body)).toBe(message)
})
