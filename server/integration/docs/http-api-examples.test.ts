import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'

// Runs the examples of the chapters about documents in docs/http-api.md in their order, with curl, and
// compares the responses with those on the page.

const run = promisify(execFile)
const page = readFileSync(new URL('../../../docs/http-api.md', import.meta.url), 'utf8')

/** An example, and the response below it. */
interface Example {
  readonly heading: string
  readonly command: string
  readonly kind: string | undefined
  readonly response: string
}

const examples = examplesOf(
  page.slice(page.indexOf('\n## Documents\n'), page.indexOf('\n## Events\n')),
)

let node: TestNode
let folder: string
let blog: number
/** Variables of the page that hold a part of an earlier response. */
const variables = new Map<string, string>()

beforeAll(async () => {
  node = await startForTest()
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-examples-'))
  ;[blog = 0] = await freePorts(1)
  for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
  const endpoint = { endpoint: `tcp://127.0.0.1:${blog}`, databases: ['blog'] }
  await node.request('POST', '/_api/endpoint', endpoint)
  await inBlog('POST', '/articles', { id: 'hello', title: 'Hello', author: 'ada' })
  writeFileSync(join(folder, 'articles.csv'), 'id,year\nsix,1843\n')
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await node.stop()
})

const inBlog = (method: string, path: string, body?: unknown, headers = {}) =>
  node.request(method, path, body, { port: blog, headers })

/** What the page expects before the first example below a heading. */
const PREPARATIONS: Readonly<Record<string, () => Promise<void>>> = {
  'GET /_export': async () => {
    await node.request('POST', '/_db/shop/orders', { id: 'one', date: '2026-11-23' })
    await node.request('PUT', '/_db/shop/_index/orders/by-date', { fields: ['-date'] })
  },
  'GET /_index/<collection>': async () => {
    await inBlog('PUT', '/_index/articles/by-author', { fields: ['author', '-year'] })
    await expect
      .poll(async () => (await inBlog('GET', '/_index/articles')).json)
      .toMatchObject([{ state: 'ready' }])
  },
  'PUT /_index/<collection>/<name>': async () => {
    await inBlog('DELETE', '/_index/articles/by-author')
  },
  'GET /_job/<id>': async () => {
    const headers = { Prefer: 'respond-async' }
    const { json } = await inBlog('PATCH', '/articles', { draft: true }, headers)
    variables.set('JOB', json.id)
    await expect.poll(async () => (await inBlog('GET', `/_job/${json.id}`)).status).toBe(200)
  },
}

test('the responses to the examples of documents are those on the page', async () => {
  const prepared = new Set<string>()
  for (const { heading, command, kind, response } of examples) {
    if (!prepared.has(heading)) await PREPARATIONS[heading]?.()
    prepared.add(heading)
    const text = command
      .replaceAll('127.0.0.1:8529', `127.0.0.1:${node.port}`)
      .replaceAll('127.0.0.1:8530', `127.0.0.1:${blog}`)
    const env = { ...process.env, TOKEN: node.token, ...Object.fromEntries(variables) }
    const { stdout } = await run('bash', ['-c', text], { cwd: folder, env })
    keepVariables(stdout)
    if (kind === undefined) continue
    expect.soft({ command, ...partsOf(stdout, kind, response) }).toEqual({
      ...{ command, ...partsOf(response, kind, response) },
    })
  }
  expect(examples.length).toBeGreaterThanOrEqual(30)
}, 300_000)

function examplesOf(text: string): Example[] {
  const block =
    /^```(?:sh\n([\s\S]*?)\n```(?:\n\n```(json|http|)\n([\s\S]*?)\n```)?)$|^#{3,4} (.*)$/gm
  const found: Example[] = []
  let heading = ''
  for (const [, command, kind, response = '', title] of text.matchAll(block)) {
    if (title !== undefined) heading = title.replaceAll('`', '')
    else if (command !== undefined) found.push({ heading, command, kind, response })
  }
  return found
}

/** Keeps the parts of a response that later examples need. */
function keepVariables(response: string): void {
  const etag = /^ETag: (.*)$/im.exec(response)?.[1]
  if (etag !== undefined) variables.set('ETAG', etag.trim())
  const next = /^Link: <(.*)>; rel="next"/im.exec(response)?.[1]
  if (next !== undefined) variables.set('NEXT', next)
}

/** Returns what is compared of a response: the status and headers that the page shows, and the body. */
function partsOf(text: string, kind: string, shown: string) {
  const lines = text.replaceAll('\r', '')
  if (kind === '') return { body: lines.trimEnd() }
  if (kind === 'json') return { body: bodyOf(lines) }
  const [head = '', body = ''] = split(lines)
  const [status = '', ...headers] = head.split('\n')
  const [, ...names] = (split(shown)[0] ?? '').split('\n').map((line) => line.split(':')[0])
  const listed = headers.filter((line) =>
    names.some((name) => name?.toLowerCase() === line.split(':')[0]?.toLowerCase()),
  )
  return {
    status,
    headers: listed
      .map((line) => withoutVolatile(line.replace(/^[^:]*/, (name) => name.toLowerCase())))
      .sort(),
    body: bodyOf(body),
  }
}

const split = (text: string) => [text.split('\n\n', 1)[0], text.split('\n\n').slice(1).join('\n\n')]

const bodyOf = (text: string): unknown =>
  text.trim() === '' ? undefined : JSON.parse(withoutVolatile(text))

/** Replaces what differs from run to run: tags, ids of jobs, cursors and times. */
const withoutVolatile = (text: string): string =>
  text
    .replace(/^etag: .*$/m, 'etag: …')
    .replace(/cursor=[^&>]*/g, 'cursor=…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
    .replace(/(_job\/|"id": ?")[\w-]{22}\b/g, '$1…')
