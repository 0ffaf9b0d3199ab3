import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import {
  killProcesses,
  type ServerProcess,
  startProcess,
} from '../test-support/server-process.testing.ts'
import { makeToken, sendRequest } from '../test-support/start.testing.ts'

// Tests a server process with raw socket input: requests that no browser sends, data that is not
// HTTP, and requests that never end.

let data: string
let port: number
let server: ServerProcess
let ended = false
let host: string
let signedIn: string

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'gatehouse-wire-'))
  const [first = 0] = await freePorts(1)
  port = first
  server = await startProcess(['--data', data, '--endpoint', `tcp://127.0.0.1:${port}`])
  void server.exit.then(() => {
    ended = true
  })
  host = `Host: localhost:${port}\r\n`
  const token = await makeToken({ data, databaseUrl: undefined })
  signedIn = `${host}Authorization: Bearer ${token}\r\n`
})
afterAll(async () => {
  await killProcesses()
  rmSync(data, { recursive: true, force: true })
})

interface Said {
  /** Everything that the server sent, as latin1. */
  readonly text: string
}

/** Writes to a new connection and reads until the server closes it. `end` half-closes it. */
const exchange = (text: string, { end = true } = {}): Promise<Said> =>
  new Promise((resolve) => {
    let read = ''
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write(text, 'latin1')
      if (end) socket.end()
    })
    socket.setEncoding('latin1').on('data', (part: string) => {
      read += part
    })
    // The server may reset the connection once it has read enough.
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve({ text: read }))
  })

const statuses = (text: string) =>
  // A body and the next response are not separated by a line end.
  [...text.matchAll(/HTTP\/1\.1 ([0-9]{3}) /g)].map(([, status]) => Number(status))

/** Checks that the server still runs and responds. */
const stillThere = async () => {
  expect((await sendRequest(port, 'GET', '/_api/health/live')).status).toBe(200)
  expect(ended).toBe(false)
}

test('a client that disconnects during its body logs no error', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write(`POST /things HTTP/1.1\r\n${signedIn}Content-Length: 9\r\n\r\n{`)
  const path = `/_db/_system/_api/listener?endpoint=${encodeURIComponent(`tcp://127.0.0.1:${port}`)}`
  const headers = Object.fromEntries([signedIn.split('\r\n')[1]?.split(': ') ?? []])
  const open = async () => (await sendRequest(port, 'GET', path, { headers })).json[0].connections
  // The connection of this query, and the socket above, whose head has arrived.
  await expect.poll(open).toBe(2)
  socket.destroy()
  await expect.poll(open).toBe(1)
  await stillThere()
  expect(server.printed()).not.toContain('"level":50')
})

test('a client that expects 100 gets the response to its head first, or 100 once the body is read', async () => {
  const send = (from: string, length: number, body = '') =>
    exchange(
      `POST /expecting HTTP/1.1\r\n${from}Expect: 100-continue\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`,
      { end: false },
    )
  expect(statuses((await send(host, 9)).text)).toEqual([401])
  expect(statuses((await send(signedIn, 2 ** 30)).text)).toEqual([413])
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('latin1')
  socket.write(
    `POST /expecting HTTP/1.1\r\n${signedIn}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
  )
  let text = ''
  socket.on('data', (part) => {
    text += part
  })
  await expect.poll(() => statuses(text)).toEqual([100])
  socket.write(`{}GET /expecting HTTP/1.1\r\n${signedIn}\r\n`)
  await expect.poll(() => statuses(text)).toEqual([100, 201, 200])
  socket.destroy()
})

test('an unauthorized request that expects 100 closes its connection, so its body is no request', async () => {
  const request = `POST /expecting HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 60\r\n\r\n`
  const { text } = await exchange(request, { end: false })
  expect(statuses(text)).toEqual([401])
  expect(text).toMatch(/^Connection: close\r$/m)
})

test('pipelined changes are made in order', async () => {
  const send = (method: string, path: string, body = '', more = '') =>
    `${method} ${path} HTTP/1.1\r\n${signedIn}${more}Content-Length: ${body.length}\r\n\r\n${body}`
  const path = '/piped/a'
  const { text } = await exchange(
    [
      send('POST', '/piped', '{"id":"a","n":1}'),
      send('GET', path),
      send('PUT', path, '{"n":2}'),
      send('GET', path),
      send('GET', '/piped'),
      send('PATCH', path, '{"n":3}'),
      send('PATCH', path, '{"m":4}'),
      send('GET', path),
      send('DELETE', path),
      send('GET', path, '', 'Connection: close\r\n'),
    ].join(''),
    { end: false },
  )
  expect(statuses(text)).toEqual([201, 200, 200, 200, 200, 200, 200, 200, 200, 404])
  const states = text.match(/"n":[0-9](?:,"m":4)?/g)
  expect(states).toEqual(
    ['1', '1', '2', '2', '2', '3', '3,"m":4', '3,"m":4', '3,"m":4'].map((n) => `"n":${n}`),
  )
})

describe('a malformed request', () => {
  const head = (line: string, more = '', from = () => host) => [line, () => from() + more] as const
  const post = (more: string, body = '') =>
    [`POST /_api/database HTTP/1.1`, () => `${signedIn}${more}`, body] as const

  test.each<[string, readonly [string, () => string, string?], number | null]>([
    ['no Host', ['GET / HTTP/1.1', () => ''], 400],
    ['no Host in HTTP/1.0', ['GET /_api/health/live HTTP/1.0', () => ''], 200],
    ['no Host at the console in HTTP/1.0', ['GET /_console/ HTTP/1.0', () => ''], 421],
    ['two Hosts', head('GET / HTTP/1.1', 'Host: evil.example\r\n'), 400],
    ['two Hosts that are the same', head('GET / HTTP/1.1', 'hOST: localhost\r\n'), 400],
    ['a Host with a space', ['GET / HTTP/1.1', () => 'Host: a b\r\n'], 400],
    ['a Host with a path', ['GET / HTTP/1.1', () => 'Host: a@localhost/x\r\n'], 400],
    ['a Host with an incomplete address', ['GET / HTTP/1.1', () => 'Host: [::1\r\n'], 400],
    ['a Host with an invalid port', ['GET / HTTP/1.1', () => 'Host: localhost:99999\r\n'], 400],
    ['an empty Host', ['GET / HTTP/1.1', () => 'Host: \r\n'], 400],
    ['a foreign Host at the console', ['GET /_console/ HTTP/1.1', () => 'Host: evil\r\n'], 421],
    [
      'a foreign Host at a sign-in',
      ['POST /_oauth2/local/auth HTTP/1.1', () => 'Host: x\r\n'],
      421,
    ],
    ['no version', head('GET /'), 400],
    ['the preface of HTTP/2', ['PRI * HTTP/2.0', () => '\r\nSM\r\n\r\n'], 505],
    ['a preface of HTTP/2 with headers', head('PRI * HTTP/2.0'), 400],
    ['lines without CR', ['GET / HTTP/1.1\nHost: localhost\n', () => '\n'], 400],
    ['a header on two lines', head('GET / HTTP/1.1', 'X: a\r\n b\r\n'), 400],
    ['a header with NUL', head('GET / HTTP/1.1', 'X: a\0b\r\n'), 400],
    ['a header name with a space', head('GET / HTTP/1.1', 'X : a\r\n'), 400],
    ['headers beyond 16 KiB', head('GET / HTTP/1.1', `X: ${'x'.repeat(17_000)}\r\n`), 431],
    ['a target beyond 16 KiB', head(`GET /${'x'.repeat(17_000)} HTTP/1.1`), 431],
    ['a target without a slash', head('GET x HTTP/1.1'), 400],
    ['a target with NUL', head('GET /\0 HTTP/1.1'), 400],
    ['a target with a NUL encoded', head('GET /_console/%00 HTTP/1.1'), null],
    ['a target of another scheme', head('GET ftp://localhost/ HTTP/1.1'), 400],
    ['an absolute target without a host', head('GET http:// HTTP/1.1'), 400],
    ['an absolute target', head('GET http://localhost/_api/health/live HTTP/1.1'), 200],
    ['an asterisk', head('OPTIONS * HTTP/1.1'), 400],
    ['two slashes', head('GET //evil.example/_console/ HTTP/1.1'), 404],
    ['a percent sign alone', head('GET /_api/% HTTP/1.1'), 404],
    ['bytes that are not UTF-8', head('GET /_db/%ff%fe/ HTTP/1.1'), 404],
    ['an unknown method', head('BREW / HTTP/1.1'), 400],
    ['TRACE', head('TRACE /_api/endpoint HTTP/1.1', '', () => signedIn), 405],
    ['CONNECT', head('CONNECT example.org:443 HTTP/1.1'), 405],
    ['a method of WebDAV', head('PROPFIND /_api/endpoint HTTP/1.1'), 405],
    ['an expectation', head('GET / HTTP/1.1', 'Expect: more\r\n'), 417],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}'), 400],
    ['a negative length', post('Content-Length: -2\r\n', '{}'), 400],
    ['a length with a sign', post('Content-Length: +2\r\n', '{}'), 400],
    ['a length of 30 digits', post(`Content-Length: ${'9'.repeat(30)}\r\n`, '{}'), 400],
    ['a length beyond the limit', post('Content-Length: 1048577\r\n', '{}'), 413],
    [
      'a length and chunks',
      post('Transfer-Encoding: chunked\r\nContent-Length: 2\r\n', '0\r\n\r\n'),
      400,
    ],
    ['another transfer coding', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), 400],
    [
      'a coding before chunked',
      post('Transfer-Encoding: gzip, chunked\r\n', '10\r\n{"name":"coded"}\r\n0\r\n\r\n'),
      400,
    ],
    ['a coding after chunked', post('Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n'), 400],
    [
      'two transfer codings',
      post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', '0\r\n\r\n'),
      400,
    ],
    ['a space before the colon', post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n'), 400],
    ['a chunk without a length', post('Transfer-Encoding: chunked\r\n', 'zz\r\n\r\n'), 400],
    [
      'a chunk with a long extension',
      post('Transfer-Encoding: chunked\r\n', `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
      413,
    ],
    [
      'chunks beyond the limit',
      post(
        'Transfer-Encoding: chunked\r\n',
        `${'10000\r\n'.concat('x'.repeat(65_536), '\r\n').repeat(17)}0\r\n\r\n`,
      ),
      413,
    ],
    ['a body that is not JSON', post('Content-Length: 2\r\n', '{x'), 400],
    ['a deep body', post('Content-Length: 800000\r\n', '['.repeat(800_000)), 422],
    ['a body of another kind', post('Content-Type: text/xml\r\nContent-Length: 2\r\n', '{}'), 415],
    [
      'a form beyond 16 KiB',
      ['POST /_oauth2/local/auth HTTP/1.1', () => `${host}Content-Length: 16385\r\n`],
      413,
    ],
  ])('%s', async (_, [line, headers, body = ''], status) => {
    const { text } = await exchange(`${line}\r\n${headers()}Connection: close\r\n\r\n${body}`)
    const [first = 0] = statuses(text)
    if (status === null) expect(text.includes('console is not built') || first < 500).toBe(true)
    else expect(first).toBe(status)
    await stillThere()
  })

  test.each([
    ['an unknown method', 'BREW /_api/endpoint HTTP/1.1', 400, { errorNum: 10, code: 400 }],
    ['an unknown method', 'BREW /_db/blog/articles HTTP/1.1', 400, { id: 'bad_request' }],
    [
      'a long URL',
      `GET /_db/_system/_api/endpoint?${'x'.repeat(20_000)} HTTP/1.1`,
      431,
      { errorNum: 431, errorMessage: expect.stringContaining('at most 16 KiB') },
    ],
    ['a long URL', `GET /articles?${'x'.repeat(20_000)} HTTP/1.1`, 431, { id: 'too_large' }],
    [
      'a letter that is not percent-encoded',
      'GET /articles?name=José HTTP/1.1',
      400,
      { id: 'bad_request', message: expect.stringContaining('must be percent-encoded') },
    ],
    ['HTTP/9.9', 'GET /articles HTTP/9.9', 400, { id: 'bad_request' }],
    [
      'the preface of HTTP/2',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n',
      505,
      { id: 'bad_request', message: expect.stringContaining('instead of HTTP/2') },
    ],
    ['HTTP/2.0', 'GET /articles HTTP/2.0', 505, { id: 'bad_request' }],
    ['HTTP/2.0', 'GET /_api/health/live HTTP/2.0', 505, { code: 505, errorNum: 505 }],
    ['HTTP/0.9', 'GET /_api/health/live HTTP/0.9', 400, { code: 400, errorNum: 10 }],
    [
      'an asterisk',
      'OPTIONS * HTTP/1.1',
      400,
      { id: 'bad_request', message: 'The URL or the Host header is not valid.' },
    ],
    ['a target without a slash', 'GET articles HTTP/1.1', 400, { id: 'bad_request' }],
  ])('%s gets an error body: %s', async (_, line, status, body) => {
    const { text } = await exchange(`${line}\r\n${host}\r\n`)
    expect(statuses(text)).toEqual([status])
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject(body)
  })

  const cookies = `Cookie: ${'name=0123456789; '.repeat(1_100)}\r\n`
  test.each([
    ['Sec-Fetch-Mode: navigate\r\n', 'text/html; charset=utf-8'],
    ['Accept: text/html,*/*\r\n', 'text/html; charset=utf-8'],
    ['Accept: text/html\r\nSec-Fetch-Mode: cors\r\n', 'application/json'],
    ['', 'application/json'],
  ])('too many cookies with %j get %s', async (more, type) => {
    const { text } = await exchange(`GET /_console/ HTTP/1.1\r\n${host}${more}${cookies}\r\n`)
    expect(statuses(text)).toEqual([431])
    expect(text).toContain(`Content-Type: ${type}\r\n`)
    expect(text.includes('Delete the cookies')).toBe(type !== 'application/json')
  })

  test('HEAD with HTTP/2.0 gets no body', async () => {
    const { text } = await exchange(`HEAD /articles HTTP/2.0\r\n${host}\r\n`)
    expect(statuses(text)).toEqual([505])
    expect(text.indexOf('\r\n\r\n')).toBe(text.length - 4)
  })

  describe('CONNECT', () => {
    const request = () => `CONNECT localhost:22 HTTP/1.1\r\n${host}\r\n`
    const openConnections = async () => {
      const endpoint = encodeURIComponent(`tcp://127.0.0.1:${port}`)
      const headers = Object.fromEntries([signedIn.split('\r\n')[1]?.split(': ') ?? []])
      const path = `/_db/_system/_api/listener?endpoint=${endpoint}`
      return (await sendRequest(port, 'GET', path, { headers })).json[0].connections
    }

    test('gets a response, and the connection is closed although the client keeps it open', async () => {
      const { text } = await exchange(request(), { end: false })
      expect(statuses(text)).toEqual([405])
      expect(text).toContain('\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n')
      await stillThere()
    })

    test('behind a response that is not complete closes the connection', async () => {
      const sockets = Array.from({ length: 5 }, () => {
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        socket.write(`GET /_api/openapi.json HTTP/1.1\r\n${host}\r\n${request()}`)
        return socket
      })
      // That of this query.
      await expect.poll(openConnections).toBe(1)
      for (const socket of sockets) socket.destroy()
    })

    test('of a client that resets the connection ends nothing else', async () => {
      for (const before of ['', `GET /_api/openapi.json HTTP/1.1\r\n${host}\r\n`]) {
        for (let time = 0; time < 20; time++) {
          await new Promise<void>((resolve) => {
            const socket = connect(port, '127.0.0.1', () => {
              socket.write(before + request(), () => socket.resetAndDestroy())
            })
            socket.on('error', () => {}).on('close', () => resolve())
          })
        }
      }
      await expect.poll(openConnections).toBe(1)
      await stillThere()
    })
  })

  test('bytes after a rejected request are not parsed as another request', async () => {
    const smuggled = `DELETE /_api/database/x HTTP/1.1\r\n${signedIn}Content-Length: 0\r\n\r\n`
    for (const trick of [
      `Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'Content-Length: 0\r\nContent-Length: 5\r\n\r\n',
      'Host: evil.example\r\nContent-Length: 0\r\n\r\n',
    ]) {
      const { text } = await exchange(
        `POST /_api/database HTTP/1.1\r\n${signedIn}${trick}${smuggled}`,
      )
      expect(statuses(text)).toEqual([400])
    }
  })
})

describe('generated garbage', () => {
  const bytes = fc
    .uint8Array({ maxLength: 300 })
    .map((each) => Buffer.from(each).toString('latin1'))
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'M-SEARCH']
  const piece = fc.oneof(
    fc.constantFrom(
      ...['_api', '_db', '_system', '_console', '_oauth2', '_idp', 'local', 'auth', 'key', 'token'],
      ...['endpoint', 'database', 'user', 'session', 'audit', 'listener', 'events', 'articles'],
      ...['..', '.', '', '%2e%2e', '%2f', '%00', '%ff', '%', '\\', '*', 'a'.repeat(300)],
    ),
    fc.string({ maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
  )
  const query = fc.oneof(
    fc.constantFrom('', '?', '?error=', '?limit=0', '?before=-1', '?state=x&code=y', '?who=%00'),
    fc.string({ maxLength: 20 }).map((text) => `?${encodeURI(text.toWellFormed())}`),
  )
  const target = fc
    .tuple(fc.array(piece, { maxLength: 5 }), query)
    .map(([pieces, search]) => `/${pieces.join('/')}${search}`)
  const header = fc.tuple(
    fc.constantFrom(
      ...['Accept', 'Cookie', 'Origin', 'Content-Type', 'If-Match', 'If-None-Match', 'Range'],
      ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'Last-Event-ID', 'Prefer'],
      ...['Upgrade', 'Expect', 'Transfer-Encoding', 'Authorization', 'Content-Encoding', 'TE'],
    ),
    fc.oneof(
      fc.constantFrom('*', 'null', 'bytes=0-', 'chunked', 'gzip', 'Basic !', 'Bearer', '"', '::1'),
      fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 40 }),
    ),
  )
  const json = fc.oneof(fc.json(), fc.string(), fc.constant('{"endpoint":"tcp://a:0"}'))
  const message = fc.oneof(
    { weight: 1, arbitrary: bytes },
    {
      weight: 6,
      arbitrary: fc
        .record({
          method: fc.constantFrom(...methods),
          target,
          headers: fc.array(header, { maxLength: 4 }),
          body: json,
          known: fc.boolean(),
        })
        .map(({ method, target, headers, body, known }) => {
          // Half of these requests carry an admin's token.
          const text = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
          const length = Buffer.byteLength(body, 'latin1')
          return `${method} ${target} HTTP/1.1\r\n${known ? signedIn : host}${text}Connection: close\r\nContent-Length: ${length}\r\n\r\n${body}`
        }),
    },
  )

  test('never causes a 5xx, except 500 for an error of a provider', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 8 }), async (messages) => {
        const responses = await Promise.all(messages.map((each) => exchange(each)))
        for (const [at, { text }] of responses.entries()) {
          const requested = messages[at] ?? ''
          // An error of a provider (docs/sign-in.md, "The flow"), or a console that is not built.
          if (/\/_oauth2\/[^ ]*[?&]error=/.test(requested)) continue
          if (text.includes('The console is not built')) continue
          // The same for HEAD, whose response has no body to check.
          if (/^HEAD [^ ]*_console/.test(requested)) continue
          expect([requested, statuses(text).filter((status) => status >= 500)]).toEqual([
            requested,
            [],
          ])
        }
      }),
      { numRuns: 150 },
    )
    await stillThere()
  })
})

test('slow clients are disconnected after 10 s: headers, and bodies that send less than 4 KiB', async () => {
  const trickle = (text: string, piece: string, pieces = Infinity) =>
    new Promise<string>((resolve) => {
      let read = ''
      let sent = 0
      const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(text))
      const timer = setInterval(() => {
        if (sent++ < pieces) socket.write(piece)
      }, 500)
      socket.setEncoding('latin1').on('data', (part: string) => {
        read += part
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(timer)
        resolve(read)
      })
    })
  const post = (path: string, headers: string, length: number) =>
    `POST ${path} HTTP/1.1\r\n${headers}Connection: close\r\nContent-Length: ${length}\r\n\r\n`
  const form = `${host}Content-Type: application/x-www-form-urlencoded\r\n`
  const [steady, ...cut] = await Promise.all([
    // Lasts longer than the limit for a stalled body; the completed body is not valid JSON.
    trickle(post('/_api/database', signedIn, 24 * 1024), ' '.repeat(1024), 24),
    trickle(post('/_api/database', signedIn, 1000), ' '),
    trickle(post('/_oauth2/local/auth', form, 1000), 'x'),
    trickle('GET /', 'x'),
    trickle(`GET / HTTP/1.1\r\n${host}`, 'X: y\r\n'),
    exchange(`GET / HTTP/1.1\r\n${host}`, { end: false }).then(({ text }) => text),
  ])
  expect(statuses(steady)).toEqual([400])
  for (const text of cut) expect(statuses(text)).toEqual([408])
  expect(cut[0]).toContain('Send at least 4 KiB every 10 seconds')
  await stillThere()
})

describe('every response', () => {
  test.each([
    ['data', () => `GET /_api/endpoint HTTP/1.1\r\n${signedIn}`],
    ['a rejection', () => `GET /_api/endpoint HTTP/1.1\r\n${host}`],
    ['an unknown path', () => `GET /articles/1 HTTP/1.1\r\n${signedIn}`],
    ['a redirect', () => `GET / HTTP/1.1\r\n${host}`],
    ['a page', () => `GET /_console/ HTTP/1.1\r\n${host}Accept: text/html\r\n`],
    ['the local provider', () => `GET /_idp/.well-known/openid-configuration HTTP/1.1\r\n${host}`],
  ])('has the headers that protect a browser, once: %s', async (_what, head) => {
    const { text } = await exchange(`${head()}Connection: close\r\n\r\n`, { end: false })
    const names = text
      .slice(0, text.indexOf('\r\n\r\n'))
      .split('\r\n')
      .map((line) => line.split(':')[0]?.toLowerCase())
    for (const name of [
      'content-security-policy',
      'x-content-type-options',
      'cross-origin-opener-policy',
      'cross-origin-resource-policy',
      'referrer-policy',
    ]) {
      expect(names.filter((each) => each === name)).toEqual([name])
    }
  })
})
