import { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { operatorSession } from '../operator-session.testing.ts'
import { startForTest, type TestNode } from '../start.testing.ts'
import { openStore } from '../storage/open.ts'

// A node whose log is at level debug answers every request by the application, which logs it. So
// each request here is sent twice, and both answers are compared.

const log = pino({ level: 'silent' }, { write() {} })
let node: TestNode
let tags: Record<string, string>
let tokens: Record<'reader' | 'elsewhere' | 'revoked', string>
let session: string

beforeAll(async () => {
  node = await startForTest({ trustedProxies: ['127.0.0.1'] }, log)
  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await node.ask(method, path, body)
    if (answer.status >= 300) throw new Error(answer.text)
    return answer
  }
  for (const name of ['blog', 'shop']) await must('POST', '/_api/database', { name })
  tags = {}
  for (const id of ['one', 'a.b~c', '@:', 'ü']) {
    const made = await must('POST', '/_db/blog/articles', { id, title: 'é € 😀', by: 'ada' })
    tags[id] = made.headers.etag ?? ''
  }
  await must('POST', '/articles', { id: 'one', of: '_system' })
  const token = async (databases: string[] | null) => {
    const input = { name: 'x', role: 'viewer', databases, expires: null }
    return (await must('POST', '/_api/token', input)).json
  }
  const revoked = await token(null)
  tokens = {
    reader: (await token(null)).token,
    elsewhere: (await token(['shop'])).token,
    revoked: revoked.token,
  }
  await must('DELETE', `/_api/token/${revoked.info.id}`)
  session = await operatorSession(node)
})
afterAll(() => node.stop())

/** Sends a text over a connection of its own, which the server is to close. */
const say = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let read = ''
    const socket = connect({ port: node.port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.end(text, 'latin1')
    })
    socket.setEncoding('latin1').on('data', (part: string) => {
      read += part
    })
    socket.on('end', () => resolve(read))
    socket.on('error', reject)
  })

/** The status line, the headers in any order, and the body; of all answers. */
const answersIn = (text: string) =>
  text.split(/(?=HTTP\/1\.1 [0-9]{3} )/).map((answer) => {
    const [head = '', body] = answer.split('\r\n\r\n')
    const [status, ...headers] = head.replace(/^Date: .*\r\n/m, '').split('\r\n')
    return { status, headers: headers.sort(), body }
  })

/** What a request is answered as it comes, whether that was at once, and by the application. */
async function bothWays(request: string) {
  // The application's answers go through a `writeHead` of their own (http/security-headers.ts).
  const written = vi.spyOn(ServerResponse.prototype, 'writeHead')
  const usual = answersIn(await say(request))
  const atOnce = written.mock.calls.some(([, headers]) => Array.isArray(headers))
  written.mockRestore()
  log.level = 'debug'
  const byApplication = answersIn(await say(request))
  log.level = 'silent'
  return { usual, atOnce, byApplication }
}

const HOST = 'Host: 127.0.0.1:8529'
const ARTICLE = '/_db/blog/articles/one'
const bearer = (token: string) => `Authorization: Bearer ${token}`
const reader = () => bearer(tokens.reader)
let clients = 0
/** Another client each time: of one, only so many may be refused. */
const from = () => `X-Forwarded-For: 2001:db8:${(++clients).toString(16)}::1`
const write = (path: string, headers: readonly string[], method = 'GET', version = '1.1') =>
  [`${method} ${path} HTTP/${version}`, from(), ...headers, 'Connection: close', '', ''].join(
    '\r\n',
  )

describe('a read by id', () => {
  test.each<[string, () => string, status?: number]>([
    ['with a token', () => write(ARTICLE, [HOST, reader()])],
    ['with a session', () => write(ARTICLE, [HOST, `Cookie: ${session}`])],
    ['of the default database', () => write('/articles/one', [HOST, reader()])],
    ['by any host', () => write(ARTICLE, ['Host: gate.example', reader()])],
    ['by an address of IPv6', () => write(ARTICLE, ['Host: [::1]:8529', reader()])],
    ['by another id', () => write('/_db/blog/articles/a.b~c', [HOST, reader()])],
    ['by an id of signs', () => write('/_db/blog/articles/@:', [HOST, reader()])],
    ['in a version', () => write(ARTICLE, [HOST, reader(), 'Accept: application/json;version=1'])],
    ['if it is so', () => write(ARTICLE, [HOST, reader(), `If-Match: ${tags.one}`])],
    ['of HTTP/1.0', () => write(ARTICLE, [HOST, reader()], 'GET', '1.0')],
    ['that it has', () => write(ARTICLE, [HOST, reader(), `If-None-Match: ${tags.one}`]), 304],
  ])('%s is answered at once, as the application does', async (_, request, status = 200) => {
    const first = await bothWays(request())
    // Whoever asks is known by then.
    const { usual, atOnce, byApplication } = await bothWays(request())
    expect(usual).toEqual(byApplication)
    expect(first.usual).toEqual(byApplication)
    expect(usual.map((answer) => answer.status)).toEqual([expect.stringContaining(` ${status} `)])
    expect(atOnce).toBe(true)
  })

  test.each<[string, () => string, status: number]>([
    ['without a token', () => write(ARTICLE, [HOST]), 401],
    ['with a token that was revoked', () => write(ARTICLE, [HOST, bearer(tokens.revoked)]), 401],
    ['with two tokens', () => write(ARTICLE, [HOST, reader(), bearer('x')]), 401],
    ['with the same token twice', () => write(ARTICLE, [HOST, reader(), reader()]), 401],
    ['with a token of another', () => write(ARTICLE, [HOST, bearer(tokens.elsewhere)]), 403],
    ['with a session by any host', () => write(ARTICLE, ['Host: a', `Cookie: ${session}`]), 421],
    ['of what is not there', () => write('/_db/blog/articles/two', [HOST, reader()]), 404],
    ['of another database', () => write('/_db/shop/articles/one', [HOST, reader()]), 404],
    ['of no database', () => write('/_db/none/articles/one', [HOST, reader()]), 404],
    ['of no collection', () => write(`/_db/blog/${'a'.repeat(65)}/one`, [HOST, reader()]), 404],
    ['of a path that leads up', () => write('/_db/blog/articles/..', [HOST, reader()]), 200],
    ['in no version', () => write(ARTICLE, [HOST, reader(), 'Accept: a/b;version=9']), 406],
    ['if it were not so', () => write(ARTICLE, [HOST, reader(), 'If-Match: "x"']), 412],
    ['by a host that is none', () => write(ARTICLE, ['Host: 1.2.3:80', reader()]), 400],
    ['by its encoded id', () => write('/_db/blog/articles/%C3%BC', [HOST, reader()]), 200],
    ['with a query', () => write(`${ARTICLE}?x=1`, [HOST, reader()]), 200],
    ['of its head', () => write(ARTICLE, [HOST, reader()], 'HEAD'), 200],
  ])('%s is left to the application', async (_, request, status) => {
    await bothWays(request())
    const { usual, atOnce, byApplication } = await bothWays(request())
    expect(usual).toEqual(byApplication)
    expect(usual[0]?.status).toContain(` ${status} `)
    expect(atOnce).toBe(false)
  })

  test('is answered as the application does, whatever it asks (generated)', async () => {
    const oneOf = (...all: (() => string | undefined)[]) => fc.constantFrom(...all)
    const none = () => undefined
    const header = fc.tuple(
      oneOf(
        () => HOST,
        () => 'Host: localhost',
        () => 'Host: GATE.example:80',
        () => 'Host: a@b',
      ),
      oneOf(
        reader,
        reader,
        none,
        () => bearer('gh_x'),
        () => reader().toLowerCase(),
        () => `authorization: Basic ${Buffer.from(`${tokens.reader}:`).toString('base64')}`,
      ),
      oneOf(none, none, () => bearer(tokens.elsewhere)),
      oneOf(
        none,
        () => `Cookie: ${session}`,
        () => 'Cookie: gatehouse_x=1',
      ),
      oneOf(
        none,
        () => 'Origin: http://evil.example',
        () => 'Sec-Fetch-Site: cross-site',
      ),
      oneOf(
        none,
        () => 'Sec-Fetch-Mode: navigate',
        () => 'X-Gatehouse-Background: 1',
      ),
      oneOf(
        none,
        () => 'Accept: */*',
        () => 'Accept: text/html',
        () => 'accept: a;version="1"',
      ),
      oneOf(
        none,
        () => `If-None-Match: W/${tags.one}`,
        () => 'If-None-Match: *',
        () => `If-None-Match: "x"\r\nIf-None-Match: ${tags.one}`,
      ),
      oneOf(
        none,
        () => 'If-Match: *',
        () => `If-Match: ${tags.one}`,
      ),
    )
    const path = fc.constantFrom(
      ...[
        ARTICLE,
        ARTICLE,
        '/articles/one',
        '/_db/blog/articles/a.b~c',
        '/_db/bl%6Fg/articles/one',
      ],
      ...['/_db/blog/articles/.one', '/_db/blog/articles/one/', '/_db//articles/one', '/_DB/x/y/z'],
      ...['/_db/blog/articles//one', '/_db/blog/_schema/articles', '/_db/shop/articles/one'],
      ...['http://127.0.0.1:8529/articles/one', '/articles/one#x', '/articles/one;x', '*'],
    )
    const method = fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS')
    await fc.assert(
      fc.asyncProperty(path, header, method, async (path, lines, method) => {
        const headers = lines.map((line) => line()).filter((line) => line !== undefined)
        const { usual, byApplication } = await bothWays(write(path, headers, method))
        expect(usual).toEqual(byApplication)
      }),
      { numRuns: 200 },
    )
  })

  test('sees a change, and one that ends what it was let in by, with the next request', async () => {
    const request = () => write('/_db/blog/articles/changing', [HOST, reader()])
    const ask = async () => (await bothWays(request())).usual[0]
    const { etag } = (await node.ask('POST', '/_db/blog/articles', { id: 'changing', n: 1 }))
      .headers
    expect((await ask())?.body).toBe('{"id":"changing","n":1}')
    expect((await ask())?.headers).toContain(`ETag: ${etag}`)
    await node.ask('PUT', '/_db/blog/articles/changing', { n: 2 })
    expect((await ask())?.body).toBe('{"id":"changing","n":2}')
    await node.ask('DELETE', '/_db/blog/articles/changing')
    expect((await ask())?.status).toContain(' 404 ')
    const mine = (await node.ask('POST', '/_api/token', { name: 'x', role: 'viewer' })).json
    const withMine = async () =>
      (await bothWays(write(ARTICLE, [HOST, bearer(mine.token)]))).usual[0]
    for (let times = 0; times < 2; times++) expect((await withMine())?.status).toContain(' 200 ')
    await node.ask('DELETE', `/_api/token/${mine.info.id}`)
    expect((await withMine())?.status).toContain(' 401 ')
  })

  test('sees what another process has changed with the next request', async () => {
    const mine = (await node.ask('POST', '/_api/token', { name: 'x', role: 'viewer' })).json
    const ask = async () => (await bothWays(write(ARTICLE, [HOST, bearer(mine.token)]))).usual[0]
    for (let times = 0; times < 2; times++) expect((await ask())?.status).toContain(' 200 ')
    const tool = await openStore({ data: node.data }, 'tool')
    await tool.db.deleteFrom('tokens').where('id', '=', mine.info.id).execute()
    await tool.close()
    expect((await ask())?.status).toContain(' 401 ')
  })

  test('follows requests that were pipelined before it', async () => {
    const keep = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n${reader()}\r\n\r\n`
    const many = [ARTICLE, '/_db/blog/articles/two', ARTICLE, '/_db/blog/articles?limit=1', ARTICLE]
    await bothWays(keep(ARTICLE))
    const { usual, atOnce, byApplication } = await bothWays(many.map(keep).join(''))
    expect(usual.map(({ status }) => status?.slice(9, 12))).toEqual([
      '200',
      '404',
      '200',
      '200',
      '200',
    ])
    expect(usual).toEqual(byApplication)
    expect(atOnce).toBe(true)
  })
})
