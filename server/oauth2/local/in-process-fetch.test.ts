import { expect, test } from 'vitest'
import { HTTP_LIMITS } from '../../endpoints/listeners/http-engine.ts'
import { inProcessFetch } from './in-process-fetch.ts'

test('passes on a URL and a redirect that percent-encoding has made three times as long', async () => {
  const send = inProcessFetch((request, response) => {
    response.writeHead(303, { Location: request.url }).end()
  })
  const url = new URL('http://x/')
  url.search = "'".repeat(HTTP_LIMITS.maxHeaderSize)
  const response = await send(url.href, {})
  expect(response.status).toBe(303)
  expect(response.headers.get('Location')).toBe(`/${url.search}`)
})
