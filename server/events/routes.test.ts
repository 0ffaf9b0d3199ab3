import { type IncomingMessage, request } from 'node:http'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Principal } from '../contract/access/principal.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import type { AppEnv } from '../http/env.ts'
import { renderFailure, toFailure } from '../http/output/render-failure.ts'
import { CONSOLE_HEADERS, operatorSession } from '../test-support/operator-session.testing.ts'
import { sendRequest, startForTest, type TestNode } from '../test-support/start.testing.ts'
import { createEventHub } from './hub.ts'
import {
  createSendStream,
  createStreamLimit,
  eventRoutes,
  HEARTBEAT,
  HEARTBEATS_PER_CHECK,
} from './routes.ts'

/** Opens a stream, and resolves once it runs. */
async function follow(port: number, headers: Record<string, string>, query = '') {
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    const where = { port, path: `/_api/events${query}`, headers, agent: false }
    request({ host: '127.0.0.1', ...where }, resolve)
      .on('error', reject)
      .end()
  })
  let text = ''
  let hasEnded = false
  stream.on('end', () => {
    hasEnded = true
  })
  await new Promise<void>((resolve) => {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (text.includes('hello')) resolve()
    })
  })
  return {
    text: () => text,
    /** Expects the stream to end before it authenticates its reader again. */
    async ended() {
      await expect.poll(() => hasEnded).toBe(true)
      expect(text.split('event: heartbeat').length - 1).toBeLessThan(HEARTBEATS_PER_CHECK)
    },
  }
}

describe('a stream of a running node', () => {
  let node: TestNode
  beforeEach(async () => {
    node = await startForTest()
  })
  afterEach(() => node.stop())

  test('ends immediately with the sign-out of its session, and others do not', async () => {
    const [mine, other] = [await operatorSession(node), await operatorSession(node)]
    const ending = await follow(node.port, { Cookie: mine })
    const staying = await follow(node.port, { Cookie: other })
    const out = await sendRequest(node.port, 'DELETE', '/_api/session', {
      headers: { Cookie: mine, ...CONSOLE_HEADERS },
    })
    expect(out.status).toBe(200)
    await ending.ended()
    await node.request('POST', '/_api/database', { name: 'later' })
    await expect.poll(staying.text).toContain('later')
    expect(ending.text()).not.toContain('later')
  })

  test('ends when its endpoint no longer reaches _system', async () => {
    const [port = 0] = await freePorts(1)
    const endpoint = `tcp://127.0.0.1:${port}`
    await node.request('POST', '/_api/endpoint', { endpoint, databases: [] })
    const headers = { Authorization: `Bearer ${node.token}` }
    const [here, there] = [await follow(node.port, headers), await follow(port, headers)]
    await node.request('POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
    await there.ended()
    await node.request('POST', '/_api/database', { name: 'later' })
    await expect.poll(here.text).toContain('later')
    expect(there.text()).not.toContain('later')
  })

  test('starts after the event named in the session response', async () => {
    const mine = await operatorSession(node)
    const session = await sendRequest(node.port, 'GET', '/_api/session', {
      headers: { Cookie: mine },
    })
    const after = session.headers['gatehouse-last-event']
    await node.request('POST', '/_api/database', { name: 'between' })
    const stream = await follow(node.port, { Cookie: mine }, `?after=${after}`)
    await expect.poll(stream.text).toContain('between')
    expect(stream.text()).not.toContain('reset')
    const nobody = await sendRequest(node.port, 'GET', '/_api/session', {})
    expect(nobody.headers).not.toHaveProperty('gatehouse-last-event')
  })

  test.for(['', 'a%0Ab', 'a%0Db', '%00', 'a'.repeat(65)])('rejects after=%s', async (after) => {
    const { status, json } = await node.request('GET', `/_api/events?after=${after}`)
    expect([status, json]).toEqual([
      400,
      expect.objectContaining({ errorMessage: expect.stringContaining('the id of an event') }),
    ])
  })

  test('ends immediately when its token is revoked', async () => {
    const made = await node.request('POST', '/_api/token', { name: 'a', role: 'viewer' })
    const stream = await follow(node.port, { Authorization: `Bearer ${made.json.token}` })
    await node.request('DELETE', `/_api/token/${made.json.info.id}`)
    await stream.ended()
  })
})

describe('events of people, tokens and the audit log', () => {
  let node: TestNode
  beforeEach(async () => {
    node = await startForTest()
  })
  afterEach(() => node.stop())

  const events = (text: string) =>
    [...text.matchAll(/^data: (\{"type".*)$/gm)].map(([, data]) => JSON.parse(data as string))

  test('are sent to those with permission to read them', async () => {
    const session = await operatorSession(node)
    const me = (
      await sendRequest(node.port, 'GET', '/_api/session', { headers: { Cookie: session } })
    ).json
    const headersOf = async (role: string) => {
      const made = await node.request('POST', '/_api/token', { name: role, role })
      return { Authorization: `Bearer ${made.json.token}` }
    }
    const admin = await follow(node.port, await headersOf('admin'))
    const viewer = await follow(node.port, await headersOf('viewer'))
    // Same person: events about a person's own tokens are sent to every role.
    await node.request('POST', '/_api/token', { name: 'another', role: 'viewer' })
    const start = { type: 'token', owner: me.person.id }
    for (const { text } of [admin, viewer]) {
      await expect.poll(() => events(text())).toContainEqual(start)
      expect(events(text())).toContainEqual({ type: 'audit' })
    }
    await operatorSession(node)
    await expect
      .poll(() => events(admin.text()))
      .toContainEqual({ type: 'person', id: me.person.id })
    expect(admin.text() + viewer.text()).not.toMatch(/another|local:operator/)
  })
})

/** Accepts every request with a fixed principal. */
const pass = createMiddleware<AppEnv>((c, next) => {
  c.set('principal', { role: 'viewer', personId: c.req.header('X-Who') ?? 'me' } as Principal)
  return next()
})

test('only admins receive events about other people', async () => {
  const hub = createEventHub()
  const heard = async (role: 'viewer' | 'operator' | 'admin') => {
    const from = hub.lastId
    for (const id of ['me', 'other']) {
      hub.publish({ type: 'person', id })
      hub.publish({ type: 'token', owner: id })
    }
    hub.publish({ type: 'audit' })
    hub.publish({ type: 'person', id: null })
    const draining = new AbortController()
    const who = { role, personId: 'me' } as Principal
    const app = new Hono<AppEnv>().route(
      '/',
      eventRoutes(
        hub,
        () => pass,
        createSendStream(hub, async () => who),
        () => [],
      ),
    )
    const listener = { draining: draining.signal } as AppEnv['Bindings']['listener']
    const response = await app.request('/', { headers: { 'Last-Event-ID': from } }, { listener })
    let text = ''
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part
      if (text.includes('"id":null')) break
    }
    draining.abort()
    return [...text.matchAll(/"(?:id|owner)":(\S+)}/g)].map(([, id]) => id)
  }
  expect(await heard('viewer')).toEqual(['"me"', '"me"', 'null'])
  expect(await heard('operator')).toEqual(['"me"', '"me"', 'null'])
  expect(await heard('admin')).toEqual(['"me"', '"me"', '"other"', '"other"', 'null'])
})

test('a stream whose session ends during its authentication ends immediately', async () => {
  const hub = createEventHub()
  let requested = 0
  const whoIsIn = async () => {
    // The session ends after the store responds and before the stream receives the result.
    if (++requested > 1) return undefined
    hub.wakeReaders()
    return { role: 'viewer', personId: 'me' } as Principal
  }
  const app = new Hono<AppEnv>().route(
    '/',
    eventRoutes(
      hub,
      () => pass,
      createSendStream(hub, whoIsIn),
      () => [],
    ),
  )
  const listener = { draining: new AbortController().signal } as AppEnv['Bindings']['listener']
  const response = await app.request('/', {}, { listener })
  // Otherwise the stream would stay open until the next authentication, after 15 s.
  expect(await response.text()).toContain('hello')
  expect(requested).toBe(2)
})

test('the streams of a person are limited, and ending one frees a slot', async () => {
  const hub = createEventHub()
  const app = new Hono<AppEnv>().route(
    '/',
    eventRoutes(
      hub,
      () => pass,
      createSendStream(hub, async (c) => c.get('principal'), createStreamLimit(2, 3)),
      () => [],
    ),
  )
  app.onError((error, c) => renderFailure(toFailure(error), c))
  const draining = new AbortController()
  const listener = { draining: draining.signal } as AppEnv['Bindings']['listener']
  const open = async (who: string) => app.request('/', { headers: { 'X-Who': who } }, { listener })
  const [first, second] = [await open('a'), await open('a')]
  const refused = await open('a')
  expect([first.status, second.status, refused.status]).toEqual([200, 200, 429])
  expect(await refused.text()).toContain('You have 2 open event streams on this node, the maximum.')
  expect((await open('b')).status).toBe(200)
  expect(await (await open('b')).text()).toContain('This node has 3 open event streams')
  await first.body?.cancel()
  await expect.poll(async () => (await open('a')).status).toBe(200)
  draining.abort()
})

describe('a quiet stream', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('sends a heartbeat with the last id every 5 s, and authenticates with every third', async () => {
    const hub = createEventHub()
    let authenticated = 0
    const whoIsIn = async () => {
      authenticated += 1
      return authenticated > 2 ? undefined : ({ role: 'viewer', personId: 'me' } as Principal)
    }
    const app = new Hono<AppEnv>().route(
      '/',
      eventRoutes(
        hub,
        () => pass,
        createSendStream(hub, whoIsIn),
        () => [],
      ),
    )
    const listener = { draining: new AbortController().signal } as AppEnv['Bindings']['listener']
    const before = hub.lastId
    hub.publish({ type: 'audit' })
    const response = await app.request(`/?after=${before}`, {}, { listener })
    const text = response.text()
    const ended = vi.fn()
    text.then(ended)
    expect(HEARTBEAT).toBe(5_000)
    await vi.advanceTimersByTimeAsync(3 * HEARTBEAT)
    expect(authenticated).toBe(2)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(3 * HEARTBEAT)
    expect((await text).match(/^(?:event|id|data): .*$/gm)).toEqual([
      ...['event: hello', 'data: {}', `id: ${before}`],
      ...['data: {"type":"audit"}', `id: ${hub.lastId}`],
      ...Array.from({ length: 6 }, () => [
        'event: heartbeat',
        'data: {}',
        `id: ${hub.lastId}`,
      ]).flat(),
    ])
  })
})

test('HEAD leaves no subscription behind', async () => {
  const hub = createEventHub()
  let readers = 0
  const counting = {
    ...hub,
    lastId: hub.lastId,
    subscribe(listener: () => void) {
      readers++
      const unsubscribe = hub.subscribe(listener)
      return () => {
        readers--
        unsubscribe()
      }
    },
  }
  const app = new Hono<AppEnv>().route(
    '/',
    eventRoutes(
      counting,
      () => pass,
      createSendStream(counting, async () => undefined),
      () => [],
    ),
  )
  const listener = { draining: new AbortController().signal } as AppEnv['Bindings']['listener']
  const response = await app.request('/', { method: 'HEAD' }, { listener })
  expect([response.status, response.headers.get('Content-Type')]).toEqual([
    200,
    'text/event-stream',
  ])
  expect(readers).toBe(0)
})
