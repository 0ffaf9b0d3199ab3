import { createHash } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, describe, expect, it, test } from 'vitest'
import { createApp } from './app.ts'
import { createRecorder } from './audit/record.ts'
import { createTokenByCommand } from './cli/commands/token-create.ts'
import { COLLECTION_NAME_RULE } from './contract/document.ts'
import { Failure } from './failure.ts'
import type { ListenerContext } from './http/env.ts'
import { actionOf } from './http/guards/audit-change.ts'
import { blog, listener, openApp, outside } from './test-support/app.testing.ts'

// Behavior common to all routes, and routes without a folder of their own. Permissions are tested
// in app-guards.test.ts and console pages in app-console.test.ts.

const { app, modules, request, store, token, events, readiness, lines, close } = await openApp()
afterAll(close)

describe('failures', () => {
  it('use the Error object under /_api, in UTF-8', async () => {
    for (const path of ['/_api', '/_api/nothing', '/_db/blog/_api/endpoint', '/_db/no/_api/x']) {
      const response = await request(path)
      expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
      expect(Object.keys((await response.json()) as object)).toEqual([
        'error',
        'code',
        'errorNum',
        'errorMessage',
      ])
    }
  })

  it('use the error body elsewhere', async () => {
    const response = await request('/nothing/here/at/all')
    expect(response.status).toBe(404)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(await response.json()).toEqual({ id: 'not_found', message: 'There is no such path.' })
  })

  it('say what is wrong with a path: the name of a collection, or a slash at its end', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    const failureOf = async (path: string) => {
      const response = await request(path, { headers })
      return [response.status, (await response.json()) as { message: string }] as const
    }
    for (const path of ['/Items', '/Items/1', '/_index/Items/by-a', '/_schema/Items', '/It%65ms']) {
      const message = `"Items" is not a valid collection name. ${COLLECTION_NAME_RULE}`
      expect(await failureOf(path)).toEqual([404, { id: 'not_found', message }])
    }
    for (const path of [
      '/items/',
      '/items//',
      '/items/1/',
      '/_index/items/',
      '/_export/',
      '/healthz/',
    ]) {
      const message = 'There is no such path. Remove the slash at its end.'
      expect(await failureOf(path)).toEqual([404, { id: 'not_found', message }])
    }
    for (const path of ['/Items/', '/Items/1/2', '/_indexes/Items', '/_schema/items/1']) {
      expect(await failureOf(path)).toEqual([
        404,
        { id: 'not_found', message: 'There is no such path.' },
      ])
    }
  })

  it.each([
    ['GET', '/_all_dbs', 404, 'GET /_api/database'],
    ['GET', '/_up', 404, 'GET /healthz'],
    ['POST', '/_find', 404, 'GET /<collection>'],
    ['POST', '/articles/_find', 405, 'GET /<collection>'],
    ['POST', '/articles/_search', 405, 'GET /<collection>'],
    ['GET', '/articles/_design/a/_view/b', 404, 'GET /<collection>'],
    ['POST', '/articles/_bulk_docs', 405, 'POST /<collection>'],
    ['POST', '/_session', 404, 'GET /_api/session'],
    ['PUT', '/newdb', 405, 'POST /_api/database'],
    ['PUT', '/NewDB', 404, 'POST /_api/database'],
    ['GET', '/_users', 404, 'GET /_api/user'],
    ['GET', '/_utils/', 404, '/_console/'],
    ['POST', '/_api/cursor', 404, 'GET /<collection>'],
    ['POST', '/_api/document/articles', 404, '/<collection>/<id>'],
    ['POST', '/_api/collection', 405, 'POST /<collection>'],
    ['POST', '/_open/auth', 404, 'a token'],
  ])('say what is similar to %s %s of another server', async (method, path, status, here) => {
    const response = await request(path, { method })
    expect(response.status).toBe(status)
    expect(await response.text()).toContain(here)
  })

  it('say with 401 how to send a token', async () => {
    for (const Authorization of [undefined, 'token x', 'Bearer x', `Basic ${btoa('root:')}`]) {
      const headers = new Headers(Authorization ? { Authorization } : {})
      const response = await app.request('/articles', { headers }, { listener: listener() })
      expect(response.status).toBe(401)
      const text = await response.text()
      for (const form of ['Authorization: Bearer TOKEN', 'Authorization: Basic']) {
        expect(text).toContain(form)
      }
    }
  })

  it('say how pages of other origins can use the API, if a browser asks', async () => {
    const response = await request('/_db/blog/articles', { method: 'OPTIONS' })
    expect([response.status, response.headers.get('Allow')]).toEqual([
      405,
      'GET, HEAD, POST, PATCH, DELETE',
    ])
    expect(((await response.json()) as { message: string }).message).toContain(
      'Pages of other origins need a policy of the endpoint',
    )
    const other = await request('/_db/blog/articles', { method: 'PUT' })
    expect(await other.text()).not.toContain('CORS')
  })

  it('are an escaped page with the same status for a browser navigation', async () => {
    const path = '/_db/%3Cscript%3E/x'
    for (const header of [
      ['Sec-Fetch-Mode', 'navigate'],
      ['Accept', 'text/html,*/*'],
    ] as [string, string][]) {
      const response = await request(path, { headers: [header] })
      expect(response.status).toBe(404)
      expect(response.headers.get('Content-Type')).toContain('text/html')
      const page = await response.text()
      expect(page).toContain('database not found')
      expect(page).not.toContain('<script>')
      // The page is styled inline: a stylesheet request could fail for the same reason.
      const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(page) ?? []
      const hash = createHash('sha256').update(style).digest('base64')
      const policy = response.headers.get('Content-Security-Policy')
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /)
      expect(policy).toContain(`'sha256-${hash}'`)
      expect(page).not.toMatch(/<(?:link|script)/)
    }
  })

  it('advise what to do next in a browser', async () => {
    const headers = { Accept: 'text/html' }
    const pageOf = async (path: string) => (await request(path, { headers })).text()
    expect(await pageOf('/_console/assets/gone.js')).toContain('Go to the start page')
    const stranger = await app.request(
      '/articles/1',
      { headers: { ...headers, Host: 'localhost' } },
      { listener: blog },
    )
    expect(stranger.status).toBe(401)
    expect(await stranger.text()).toContain('<a href="/_console/sign-in">Sign in</a>')
  })

  it.each([
    ['an error', new Error('the secret inside')],
    ['the reason of a signal', 'the secret inside'],
  ])('hide internal causes, which are logged: %s', async (_, thrown) => {
    const catchUp = () => {
      throw thrown
    }
    const broken = createApp({ ...modules, changes: { catchUp } })
    const headers = { Host: 'localhost', Authorization: `Bearer ${token}` }
    const response = await broken.request('/_api/endpoint', { headers }, { listener: listener() })
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: true, code: 500, errorNum: 4 })
    expect(lines.join()).toContain('the secret inside')
  })
})

describe('the order of checks', () => {
  const as = (authorization: string) => ({
    method: 'POST',
    body: 'x',
    headers: { 'Content-Type': 'text/xml', Authorization: authorization },
  })
  const nobody = as('Bearer nobody')
  const post = (role: string) => as(`Bearer <${role}>`)
  const rows: [number, string, RequestInit, ListenerContext][] = [
    [421, '/_db/no/_console/', { headers: { Host: 'evil.example' } }, listener()],
    [404, '/_db/no/_api/nothing', nobody, blog],
    [400, '/_db/blog/_api/nothing', nobody, blog],
    [404, '/_db/_system/_api/nothing', nobody, outside],
    [405, '/_api/address', { ...nobody, method: 'PUT' }, outside],
    [401, '/_api/endpoint', nobody, outside],
    [403, '/_api/endpoint', post('viewer'), outside],
    [415, '/_api/endpoint', post('admin'), outside],
  ]
  it.each(rows)('%i comes before later checks', async (status, path, init, through) => {
    const role = /<(.*)>/.exec(String((init.headers as Record<string, string>).Authorization))?.[1]
    if (role !== undefined) {
      const flags = { name: 'a', role }
      const made = await createTokenByCommand(store, createRecorder(), flags, Date.now())
      init.headers = { ...init.headers, Authorization: `Bearer ${made}` }
    }
    expect((await request(path, init, through)).status).toBe(status)
  })
})

test('a read by id is answered synchronously', async () => {
  const headers = { Host: 'localhost', Authorization: `Bearer ${token}` }
  const body = JSON.stringify({ id: 'one' })
  await request('/_db/blog/articles', { method: 'POST', headers, body })
  const read = () => app.request('/_db/blog/articles/one', { headers }, { listener: blog })
  // Without a connection, the security headers are added to the response asynchronously.
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()))
  const readOverConnection = () =>
    app.request('/_db/blog/articles/one', { headers }, { listener: blog, outgoing })
  expect((await read()).status).toBe(200)
  expect(readOverConnection()).toBeInstanceOf(Response)
})

describe('every response', () => {
  it('has the security headers, and pages allow no frames and no foreign scripts', async () => {
    for (const path of [
      '/',
      '/nothing',
      '/_api/endpoint',
      '/_api/nothing',
      '/_console/',
      '/_db/no/',
    ]) {
      const { headers } = await request(path)
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(headers.get('Content-Security-Policy')).toMatch(
        /^default-src 'none'.*frame-ancestors 'none'/,
      )
      expect(headers.get('Referrer-Policy')).toBe('same-origin')
      expect(headers.get('Cross-Origin-Opener-Policy')).toBe('same-origin')
      expect(headers.has('Strict-Transport-Security')).toBe(false)
    }
    const catchUp = () => Promise.reject(new Failure('unavailable', 'The database is unavailable.'))
    const away = await createApp({ ...modules, changes: { catchUp } }).request(
      '/_console/',
      { headers: { Host: 'localhost' } },
      { listener: listener() },
    )
    expect(away.status).toBe(503)
    expect(away.headers.get('X-Content-Type-Options')).toBe('nosniff')
    const encrypted = await request('/', {}, listener({ address: { scheme: 'ssl' } }))
    expect(encrypted.headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
  })
})

describe('/_api/health', () => {
  it('responds in any database; readiness is 503 with its reason, liveness is not affected', async () => {
    for (const path of ['/_api/health', '/_api/health/ready', '/_db/blog/_api/health']) {
      expect(await (await request(path)).json()).toEqual({
        alive: true,
        ready: true,
        writable: true,
        reason: null,
        waiting: 0,
      })
    }
    readiness.reason = 'The node is stopping.'
    try {
      const response = await request('/_api/health/ready')
      expect(response.status).toBe(503)
      expect(await response.json()).toMatchObject({ ready: false, reason: 'The node is stopping.' })
      expect((await request('/_api/health')).status).toBe(503)
      expect((await request('/_api/health/live')).status).toBe(200)
    } finally {
      readiness.reason = null
    }
  })
})

describe('/_api/session', () => {
  it('names the endpoint that received the request, and not that of its URL', async () => {
    for (const through of [listener(), outside, listener({ name: 'unix:///run/a.sock' })]) {
      const session = await (await request('/_api/session', {}, through)).json()
      expect(session).toMatchObject({ endpoint: through.name })
    }
  })
})

describe('/_api/openapi.json', () => {
  interface Response {
    readonly $ref?: string
    readonly content?: object
    readonly headers?: object
  }
  interface Operation {
    readonly summary: string
    readonly operationId: string
    readonly security: readonly object[]
    readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[]
    readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> }
    readonly responses: Readonly<Record<string, Response>>
  }
  const read = async () => {
    const response = await app.request(
      '/_api/openapi.json',
      { headers: { Host: 'localhost' } },
      { listener: listener() },
    )
    return (await response.json()) as {
      openapi: string
      paths: Record<string, Record<string, Operation>>
      components: { responses: Record<string, Response> }
    }
  }
  const operations = async () =>
    Object.entries((await read()).paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => method !== 'parameters')
        .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    )

  it('describes every route under /_api and of data, and is readable without a token', async () => {
    const described = await operations()
    const served = app.routes
      .filter(
        ({ method, path }) =>
          method !== 'ALL' && /^\/(?:_api|_feed|_index|_job|_schema|_export|_import|:)/.test(path),
      )
      .map(({ method, path }) => `${method} ${path.replace(/:([a-z]+)(?:\{[^}]*\})?/g, '{$1}')}`)
    const byQuery = served
      .filter((name) => name.endsWith(' /{collection}/{id}'))
      .map((name) => name.replace('{id}', ''))
    expect(new Set(byQuery)).toContain('PATCH /{collection}/')
    expect(new Set(described.map(([name]) => name))).toEqual(new Set([...served, ...byQuery]))
    expect(served).toContain('DELETE /_api/endpoint/{address}')
    expect(served).toContain('PATCH /{collection}/{id}')
  })

  it('passes the recommended rules of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(await read()), config })
    expect(
      problems
        // Its slash distinguishes a document by its id from a listing.
        .filter(({ message }) => !message.includes('`/{collection}/`'))
        .map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    ).toEqual([])
  })

  it('lists the credentials of an operation and its errors without them', async () => {
    for (const [name, { security, responses, requestBody }] of await operations()) {
      const isOpen = security.length === 0
      expect([name, '401' in responses, '403' in responses]).toEqual([name, !isOpen, !isOpen])
      const hasBody = requestBody !== undefined
      for (const status of ['408', '413', '415']) {
        expect([name, status, status in responses]).toEqual([name, status, hasBody])
      }
      if (hasBody)
        expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['422'])])
      if (!name.startsWith('GET ')) expect([name, '507' in responses]).toEqual([name, true])
    }
    const byName = new Map<string, Operation>(await operations())
    expect(byName.get('GET /_api/openapi.json')?.security).toEqual([])
    expect(byName.get('POST /_api/endpoint')?.security).toEqual([
      { bearer: [] },
      { basic: [] },
      { session: [] },
    ])
  })

  it('names every operation by its own words, such as createDocument', async () => {
    const ids = (await operations()).map(([, { operationId }]) => operationId)
    // Not derived from the method and the path, such as postByCollection.
    expect(ids.filter((id) => !/^(?!put|post)[a-z]+(?:[A-Z][a-z]+)+$/.test(id))).toEqual([])
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    expect(ids).toEqual(expect.arrayContaining(['createDocument', 'removeEndpoint', 'createIndex']))
  })

  it('describes counts as integers', async () => {
    const text = JSON.stringify(await read(), (key, value) =>
      // Averages, shares and durations.
      ['requestsPerSecond', 'recent', 'progress', 'ms', 'bounds'].includes(key) ? undefined : value,
    )
    expect(text.match(/.{60}"number"/g)).toBeNull()
  })

  it('describes the codings of every body, except those of event streams', async () => {
    const { components } = await read()
    for (const [name, { parameters, requestBody, responses }] of await operations()) {
      const sent = parameters.map(({ $ref }) => $ref?.replace('#/components/parameters/', ''))
      expect([name, sent]).toEqual([name, expect.arrayContaining(['AcceptEncoding'])])
      const hasBody = requestBody !== undefined
      expect([name, sent.includes('ContentEncoding')]).toEqual([name, hasBody])
      for (const [status, response] of Object.entries(responses)) {
        const { $ref } = response
        const found =
          $ref === undefined ? response : components.responses[$ref.replace(/^.*\//, '')]
        const isCoded = found?.content !== undefined && !('text/event-stream' in found.content)
        const headers = Object.keys(found?.headers ?? {})
        expect([name, status, headers.includes('Content-Encoding')]).toEqual([
          name,
          status,
          isCoded,
        ])
        const varies = isCoded || status === '304'
        expect([name, status, headers.includes('Vary')]).toEqual([name, status, varies])
      }
    }
  })

  it('describes conditional headers and shared schemas', async () => {
    const byName = new Map<string, Operation>(await operations())
    const refs = (name: string) => byName.get(name)?.parameters.map(({ $ref }) => $ref)
    const conditions = ['#/components/parameters/IfMatch', '#/components/parameters/IfNoneMatch']
    expect(refs('POST /_api/endpoint')).toEqual(expect.arrayContaining(conditions))
    expect(refs('DELETE /_api/endpoint/{address}')).toContain(conditions[0])
    expect(refs('PUT /{collection}/{id}')).toEqual(expect.arrayContaining(conditions))
    expect(JSON.stringify(byName.get('POST /_api/endpoint')?.responses['200'])).toContain(
      '#/components/schemas/Acknowledgement',
    )
  })

  it('is generated from the validating schema', async () => {
    const byName = new Map<string, Operation>(await operations())
    const body = byName.get('POST /_api/endpoint')?.requestBody?.content['application/json']
    expect(body?.schema).toMatchObject({ type: 'object', required: ['endpoint', 'databases'] })
  })
})

/** Routes with a changing method that write no audit row, because they change nothing stored. */
const UNRECORDED = [
  'POST /_api/listener/:address{[^]+}/retry',
  'POST /_api/listener/retry',
  'POST /_api/listener/:address{[^]+}/close',
  'POST /_api/listener/close',
  'POST /_api/endpoint-check',
  'POST /_api/policy-test',
]

describe('every changing route', () => {
  const routes = () => {
    const found = new Map<string, (string | undefined)[]>()
    for (const { method, path, handler } of app.routes) {
      if (!/^\/_(?:api|import|index|schema)\b/.test(path) || ['ALL', 'GET'].includes(method))
        continue
      const name = `${method} ${path}`
      found.set(name, [...(found.get(name) ?? []), actionOf(handler)])
    }
    return found
  }

  it('declares its audit action, or is listed as not audited', () => {
    const silent = [...routes()].filter(([, actions]) => actions.every((one) => one === undefined))
    expect(silent.map(([name]) => name)).toEqual(UNRECORDED)
  })

  it('declares the action before its permission, so that rejections are audited', () => {
    const late = [...routes()].filter(
      ([name, actions]) =>
        !UNRECORDED.includes(name) && actions.slice(0, 2).every((one) => one === undefined),
    )
    expect(late).toEqual([])
    expect(routes().get('POST /_api/endpoint')?.[1]).toBe('endpoint.add')
  })
})

describe('/_api/events', () => {
  /** Reads a stream until it contains `text`, then cancels it. */
  async function readUntil(answer: Response, text: string): Promise<string> {
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let read = ''
    while (reader !== undefined && !read.includes(text)) {
      const { value, done } = await reader.read()
      if (done) break
      read += value
    }
    await reader?.cancel()
    return read
  }

  it('sends new events, and resumes after the last event received', async () => {
    const live = await request('/_api/events')
    expect(live.headers.get('Content-Type')).toContain('text/event-stream')
    const before = events.lastId
    events.publish({ type: 'database', name: 'first' })
    expect(await readUntil(live, 'first')).toContain('{"type":"database","name":"first"}')

    events.publish({ type: 'database', name: 'second' })
    const resumed = await request('/_api/events', { headers: { 'Last-Event-ID': before } })
    const read = await readUntil(resumed, 'second')
    expect(read.indexOf('first')).toBeGreaterThan(-1)
    expect(read.indexOf('second')).toBeGreaterThan(read.indexOf('first'))
  })

  it('tells a client of another run to reload', async () => {
    const resumed = await request('/_api/events', { headers: { 'Last-Event-ID': 'ffffffff-3' } })
    expect(await readUntil(resumed, 'reset')).toContain('{"type":"reset"}')
  })

  it('ends when its endpoint drains', async () => {
    const closing = new AbortController()
    const stream = await request('/_api/events', {}, listener({ draining: closing.signal }))
    const reader = stream.body?.getReader()
    await reader?.read()
    closing.abort()
    let ended = false
    while (!ended) ended = (await reader?.read())?.done ?? true
    expect(ended).toBe(true)
  })
})

describe('/_api/metrics', () => {
  it('uses the text format of Prometheus', async () => {
    const response = await request('/_api/metrics')
    expect(response.headers.get('Content-Type')).toContain('text/plain; version=0.0.4')
    expect(await response.text()).toContain('# TYPE gatehouse_request_duration_seconds histogram')
  })
})

describe('the log', () => {
  it('has one line per request at level debug', async () => {
    lines.length = 0
    await request('/_api/database')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 20,
        method: 'GET',
        path: '/_api/database',
        status: 200,
        msg: 'request',
      }),
    ])
  })
})
