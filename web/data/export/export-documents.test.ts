import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { toCurl, toFetch } from './export-documents.ts'

const url = "http://127.0.0.1:8529/_db/blog/articles?author=o'hara&title=$(id)%20%26%20`id`"

test('The curl command passes the URL through a shell unchanged', () => {
  const printed = execFileSync('sh', ['-c', toCurl(url).replace('curl', "printf '%s\\n'")], {
    env: { TOKEN: 'secret' },
    encoding: 'utf8',
  })
  expect(printed).toBe(
    `-H\nAuthorization: Bearer secret\n-H\nAccept: application/x-ndjson\n${url}\n`,
  )
})

test('The fetch call reads every document', async () => {
  const call = new Function(
    'fetch',
    'token',
    `return (async () => { ${toFetch(url)}; return documents })()`,
  )
  const requests: unknown[] = []
  const fetch = async (...request: unknown[]) => {
    requests.push(request)
    return new Response('{"id":"1"}\n{"id":"2"}\n')
  }
  expect(await call(fetch, 'secret')).toEqual([{ id: '1' }, { id: '2' }])
  expect(requests).toEqual([
    [url, { headers: { Accept: 'application/x-ndjson', Authorization: 'Bearer secret' } }],
  ])
})
