import { expect, test } from 'vitest'
import { readStoredDocument } from './document-client.ts'

const respond = (headers: Record<string, string>) =>
  readStoredDocument(Promise.resolve(new Response('{"id": "one"}', { headers })))

test('returns a document as it was sent, with its ETag', async () => {
  expect(await respond({ ETag: '"a"' })).toEqual({ id: 'one', json: '{"id": "one"}', etag: '"a"' })
})

test('explains a response whose ETag a proxy has removed', async () => {
  await expect(respond({})).rejects.toThrow(/has no ETag header.* Check the proxy/)
})
