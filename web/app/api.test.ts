import { expect, test } from 'vitest'
import { readJson } from './api.ts'

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
  ['the status', 502, '<p>', 'The server responded with 502 and no error message.'],
])('a rejected request reports %s', async (_, status, body, message) => {
  expect(await messageOf(status, body)).toBe(message)
})

test('A request to a database that does not exist reports its name', async () => {
  const body = { id: 'database_not_found', message: 'database not found' }
  const response = Response.json(body, { status: 404 })
  Object.defineProperty(response, 'url', { value: 'http://localhost/_db/temp%201/orders?limit=1' })
  await expect(readJson(Promise.resolve(response))).rejects.toThrow(
    'There is no database temp 1. It may have been dropped.',
  )
  const sent = '{"id":"database_not_found","message":"database not found"}'
  expect(await messageOf(404, sent)).toBe('There is no such database. It may have been dropped.')
})
