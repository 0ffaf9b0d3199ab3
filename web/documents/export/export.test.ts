import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toCurl, toFetch } from './export-command.ts'
import { createArrayWriter } from './json-array.ts'

test('NDJSON in any chunks becomes the JSON array of its documents', () => {
  const chunks = fc.array(fc.integer({ min: 1, max: 20 }))
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 2 })), chunks, (documents, sizes) => {
      const bytes = new TextEncoder().encode(
        documents.map((document) => `${JSON.stringify(document)}\n`).join(''),
      )
      const writer = createArrayWriter()
      const decoder = new TextDecoder()
      let text = ''
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn] ?? bytes.length
        text += decoder.decode(writer.write(bytes.subarray(at, at + size)), { stream: true })
        at += size
      }
      const json = JSON.stringify(JSON.parse(text + writer.end()))
      expect(json).toBe(JSON.stringify(documents))
    }),
  )
})

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
