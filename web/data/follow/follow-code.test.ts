import { expect, test, vi } from 'vitest'
import { followWithCurl, followWithJavaScript } from './follow-code.ts'

const articles = { database: 'my blog', collection: 'articles' }
const CHANGES = 'http://127.0.0.1:8529/_db/my%20blog/_feed/articles/changes?include=document&after='

test('the command quotes the URL for the shell', () => {
  expect(followWithCurl(articles, 'http://127.0.0.1:8529', 'a-7')).toBe(
    `curl -N -H "Authorization: Bearer $TOKEN" -H 'Accept: text/event-stream' '${CHANGES}a-7'`,
  )
})

test('the JavaScript continues after the last change, and ends with a failure', async () => {
  const urls: string[] = []
  const seen = vi.fn()
  const change = { id: 'one', change: 'created', document: { id: 'one' } }
  const pages = [[{ position: 'a-8', ...change }], []]
  const fetch = async (url: string) => {
    urls.push(url)
    const page = pages.shift()
    return page ? Response.json(page) : new Response('gone', { status: 410 })
  }
  const code = followWithJavaScript(articles, 'http://127.0.0.1:8529', 'a-7')
  const AsyncFunction = (async () => {}).constructor as new (
    ...texts: string[]
  ) => (...values: unknown[]) => Promise<void>
  const run = new AsyncFunction('fetch', 'console', code)
  await expect(run(fetch, { log: seen })).rejects.toThrow('gone')
  expect(urls).toEqual([`${CHANGES}a-7`, `${CHANGES}a-8`, `${CHANGES}a-8`])
  expect(seen.mock.calls).toEqual([['created', 'one', { id: 'one' }]])
})
