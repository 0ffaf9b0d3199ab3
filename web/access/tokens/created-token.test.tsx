import { expect, test } from 'vitest'
import { curlFor } from './created-token.tsx'

test.each([
  [null, 'http://127.0.0.1:8529', 'http://127.0.0.1:8529/_db/_system/_api/endpoint'],
  [['blog'], 'https://gate.example', 'https://gate.example/_db/blog/'],
  // A shell may take the brackets for a pattern.
  [['blog'], 'http://[::1]:8529', "'http://[::1]:8529/_db/blog/'"],
])('the command of a token for %j on a page of %s requests %s', (databases, origin, url) => {
  expect(curlFor('secret', { databases }, { origin })).toBe(
    `curl -H 'Authorization: Bearer secret' ${url}`,
  )
})
