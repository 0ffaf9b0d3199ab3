import { connect } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../storage/open.ts'
import { operatorSession } from '../../test-support/operator-session.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'

// Reads of one document over real connections, with headers and paths that `fetch` would not send.

const log = pino({ level: 'silent' }, { write() {} })
let node: TestNode
let tags: Record<string, string>
let tokens: Record<'reader' | 'elsewhere' | 'revoked', string>
let session: string

beforeAll(async () => {
  node = await startForTest({ trustedProxies: ['127.0.0.1'] }, log)
  const must = async (method: string, path: string, body?: unknown) => {
    const response = await node.request(method, path, body)
    if (response.status >= 300) throw new Error(response.text)
    return response
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

/** Sends a text over a new connection, which the server must close. */
const send = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let read = ''
    const socket = connect({ port: node.port, host: '127.0.0.1' }, () => {
      socket.write(text, 'latin1')
    })
    socket.setEncoding('latin1').on('data', (part: string) => {
      read += part
    })
    socket.on('end', () => resolve(read))
    socket.on('error', reject)
  })

/** Returns the status line, the sorted headers and the body of each response. */
const answersIn = (text: string) =>
  text.split(/(?=HTTP\/1\.1 [0-9]{3} )/).map((answer) => {
    const [head = '', body] = answer.split('\r\n\r\n')
    const [status, ...headers] = head.replace(/^Date: .*\r\n/m, '').split('\r\n')
    return { status, headers: headers.sort(), body }
  })

const answers = async (request: string) => answersIn(await send(request))

const HOST = 'Host: 127.0.0.1:8529'
const ARTICLE = '/_db/blog/articles/one'
const bearer = (token: string) => `Authorization: Bearer ${token}`
const reader = () => bearer(tokens.reader)
let clients = 0
/** Returns a header for a new client, because failed requests are limited per client. */
const from = () => `X-Forwarded-For: 2001:db8:${(++clients).toString(16)}::1`
const write = (path: string, headers: readonly string[], method = 'GET', version = '1.1') =>
  [`${method} ${path} HTTP/${version}`, from(), ...headers, 'Connection: close', '', ''].join(
    '\r\n',
  )

describe('a read by id', () => {
  test.each<[string, () => string, status?: number]>([
    ['with a token', () => write(ARTICLE, [HOST, reader()])],
    ['with a session', () => write(ARTICLE, [HOST, `Cookie: ${session}`])],
    ['from the default database', () => write('/articles/one', [HOST, reader()])],
    ['under another host name', () => write(ARTICLE, ['Host: gate.example', reader()])],
    ['under an IPv6 address', () => write(ARTICLE, ['Host: [::1]:8529', reader()])],
    ['of an id with dots', () => write('/_db/blog/articles/a.b~c', [HOST, reader()])],
    ['of an id without letters', () => write('/_db/blog/articles/@:', [HOST, reader()])],
    [
      'in an accepted version',
      () => write(ARTICLE, [HOST, reader(), 'Accept: application/json;version=1']),
    ],
    ['with a matching If-Match', () => write(ARTICLE, [HOST, reader(), `If-Match: ${tags.one}`])],
    ['over HTTP/1.0', () => write(ARTICLE, [HOST, reader()], 'GET', '1.0')],
    [
      'with a matching If-None-Match',
      () => write(ARTICLE, [HOST, reader(), `If-None-Match: ${tags.one}`]),
      304,
    ],
    ['without a token', () => write(ARTICLE, [HOST]), 401],
    ['with a revoked token', () => write(ARTICLE, [HOST, bearer(tokens.revoked)]), 401],
    ['with two tokens', () => write(ARTICLE, [HOST, reader(), bearer('x')]), 401],
    ['with the same token twice', () => write(ARTICLE, [HOST, reader(), reader()]), 401],
    [
      'with a token for another database',
      () => write(ARTICLE, [HOST, bearer(tokens.elsewhere)]),
      403,
    ],
    [
      'with a session under a foreign host name',
      () => write(ARTICLE, ['Host: a', `Cookie: ${session}`]),
      421,
    ],
    ['of a missing document', () => write('/_db/blog/articles/two', [HOST, reader()]), 404],
    [
      'from a database without the document',
      () => write('/_db/shop/articles/one', [HOST, reader()]),
      404,
    ],
    ['from a missing database', () => write('/_db/none/articles/one', [HOST, reader()]), 404],
    [
      'from a collection with an invalid name',
      () => write(`/_db/blog/${'a'.repeat(65)}/one`, [HOST, reader()]),
      404,
    ],
    ['of a path with dot segments', () => write('/_db/blog/articles/..', [HOST, reader()]), 200],
    ['in an unknown version', () => write(ARTICLE, [HOST, reader(), 'Accept: a/b;version=9']), 406],
    [
      'with an If-Match that does not match',
      () => write(ARTICLE, [HOST, reader(), 'If-Match: "x"']),
      412,
    ],
    ['under an invalid host name', () => write(ARTICLE, ['Host: 1.2.3:80', reader()]), 400],
    ['of an encoded id', () => write('/_db/blog/articles/%C3%BC', [HOST, reader()]), 200],
    ['with a query', () => write(`${ARTICLE}?x=1`, [HOST, reader()]), 400],
    ['with HEAD', () => write(ARTICLE, [HOST, reader()], 'HEAD'), 200],
  ])(
    '%s gets the same response again, and at log level debug',
    async (_, request, status = 200) => {
      const first = await answers(request())
      expect(first.map((answer) => answer.status)).toEqual([expect.stringContaining(` ${status} `)])
      // The caller is cached by now.
      expect(await answers(request())).toEqual(first)
      log.level = 'debug'
      expect(await answers(request())).toEqual(first)
      log.level = 'silent'
    },
  )

  test('reflects a change and a revoked token immediately', async () => {
    const request = () => write('/_db/blog/articles/changing', [HOST, reader()])
    const sendRequest = async () => (await answers(request()))[0]
    const { etag } = (await node.request('POST', '/_db/blog/articles', { id: 'changing', n: 1 }))
      .headers
    expect((await sendRequest())?.body).toBe('{"id":"changing","n":1}')
    expect((await sendRequest())?.headers).toContain(`ETag: ${etag}`)
    await node.request('PUT', '/_db/blog/articles/changing', { n: 2 })
    expect((await sendRequest())?.body).toBe('{"id":"changing","n":2}')
    await node.request('DELETE', '/_db/blog/articles/changing')
    expect((await sendRequest())?.status).toContain(' 404 ')
    const mine = (await node.request('POST', '/_api/token', { name: 'x', role: 'viewer' })).json
    const withMine = async () => (await answers(write(ARTICLE, [HOST, bearer(mine.token)])))[0]
    for (let times = 0; times < 2; times++) expect((await withMine())?.status).toContain(' 200 ')
    await node.request('DELETE', `/_api/token/${mine.info.id}`)
    expect((await withMine())?.status).toContain(' 401 ')
  })

  test('reflects a change by another process immediately', async () => {
    const mine = (await node.request('POST', '/_api/token', { name: 'x', role: 'viewer' })).json
    const sendRequest = async () => (await answers(write(ARTICLE, [HOST, bearer(mine.token)])))[0]
    for (let times = 0; times < 2; times++) expect((await sendRequest())?.status).toContain(' 200 ')
    const tool = await openStore({ data: node.data }, 'tool')
    await tool.db.deleteFrom('tokens').where('id', '=', mine.info.id).execute()
    await tool.close()
    expect((await sendRequest())?.status).toContain(' 401 ')
  })

  test('pipelined reads get their responses in order', async () => {
    const keep = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n${reader()}\r\n\r\n`
    const many = [ARTICLE, '/_db/blog/articles/two', ARTICLE, '/_db/blog/articles?limit=1']
    const last = write(ARTICLE, [HOST, reader()])
    const found = await answers([...many.map(keep), last].join(''))
    expect(found.map(({ status }) => status?.slice(9, 12))).toEqual([
      '200',
      '404',
      '200',
      '200',
      '200',
    ])
  })
})
