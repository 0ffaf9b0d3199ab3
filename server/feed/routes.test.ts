import { get } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, type MockInstance, onTestFinished, test, vi } from 'vitest'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { HTTP_LIMITS } from '../endpoints/listeners/http-engine.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { createFeeds } from './feeds.ts'

const { connectionsCheckingInterval: CHECK } = HTTP_LIMITS

/** An open stream. */
interface Stream {
  readonly status: number
  /** Resolves with the text received so far, once it contains some text or the stream has ended. */
  until(text: string): Promise<string>
  readonly ended: Promise<void>
  close(): void
}

forEachEngineNode((start) => {
  let node: EngineNode
  const streams: Stream[] = []
  let intervals: MockInstance<typeof setInterval>

  beforeEach(async () => {
    intervals = vi.spyOn(globalThis, 'setInterval')
    node = await start()
    await node.request('POST', '/_api/database', { name: 'blog' })
  })
  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close()
    await node.stop()
  })

  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    node.request(method, `/_db/blog${path}`, body, { headers })
  const changes = async (query = '') => (await send('GET', `/_feed/notes/changes${query}`)).json
  const turnOn = async () => (await send('PUT', '/_feed/notes', { retain: '2d' })).json

  function open(
    path: string,
    headers: Record<string, string> = {},
    port = node.port,
  ): Promise<Stream> {
    const all = { Accept: 'text/event-stream', Authorization: `Bearer ${node.token}`, ...headers }
    const options = { port, path: `/_db/blog${path}`, headers: all, agent: false }
    return new Promise((resolve, reject) => {
      const request = get(options, (response) => {
        let received = ''
        const waiting = new Set<() => void>()
        const { promise: ended, resolve: end } = Promise.withResolvers<void>()
        const wake = () => {
          for (const each of waiting) each()
        }
        response.on('data', (part) => {
          received += part
          wake()
        })
        response.on('error', () => {})
        response.on('close', () => {
          end()
          wake()
        })
        const stream = {
          status: response.statusCode ?? 0,
          ended,
          close: () => request.destroy(),
          until: (text: string) =>
            new Promise<string>((found) => {
              const check = () => {
                if (!received.includes(text) && !response.closed) return
                waiting.delete(check)
                found(received)
              }
              waiting.add(check)
              check()
            }),
        }
        streams.push(stream)
        resolve(stream)
      })
      request.on('error', reject)
    })
  }

  test('a feed is turned on, lists the changes and is turned off', async () => {
    expect((await send('GET', '/_feed/notes')).status).toBe(404)
    expect((await send('GET', '/_feed/notes/changes')).status).toBe(404)
    for (const retain of ['30m', '91d', '0d', '2161h', '7', 7]) {
      expect((await send('PUT', '/_feed/notes', { retain })).status).toBe(400)
    }
    const created = await send('PUT', '/_feed/notes', {})
    expect(created.status).toBe(201)
    expect(created.json).toMatchObject({ collection: 'notes', retain: '7d', changes: 0 })
    expect(created.json.first).toBe(created.json.last)
    const changed = await send('PUT', '/_feed/notes', { retain: '36h' })
    expect([changed.status, changed.json.retain, changed.json.last]).toEqual([
      200,
      '36h',
      created.json.last,
    ])
    const { headers } = await send('POST', '/notes', { id: 'a', n: 1 })
    await send('PATCH', '/notes/a', { n: 2 })
    await send('DELETE', '/notes/a')
    const list = await changes()
    expect(list).toMatchObject([
      { id: 'a', change: 'created', etag: headers.etag },
      { id: 'a', change: 'replaced' },
      { id: 'a', change: 'deleted' },
    ])
    expect(list[0]).not.toHaveProperty('document')
    expect(await changes(`?after=${list[0].position}&limit=1`)).toEqual([list[1]])
    const state = (await send('GET', '/_feed/notes')).json
    expect(state).toMatchObject({ changes: 3, last: list[2].position, followers: 0 })
    expect(await changes(`?after=${state.first}`)).toEqual(list)

    expect((await send('DELETE', '/_feed/notes')).json.last).toBe(state.last)
    expect((await send('GET', '/_feed/notes')).status).toBe(404)
    await turnOn()
    const gone = await send('GET', `/_feed/notes/changes?after=${state.last}`)
    expect([gone.status, gone.json.id]).toEqual([410, 'gone'])
    expect(await changes(`?after=${gone.json.first}`)).toEqual([])
    expect(await changes(`?after=${gone.json.last}`)).toEqual([])
  })

  test('a filter delivers what does not match as deleted', async () => {
    await turnOn()
    await send('POST', '/notes', [
      { id: 'a', year: 2000, text: 'x' },
      { id: 'b', year: 1900 },
    ])
    await send('PATCH', '/notes/a', { year: 1800 })
    await send('PATCH', '/notes/a', { year: 2001 })
    const matching = await changes('?year:gte=2000&fields=year')
    const seen = matching
      .map(({ id, change, document }: Record<string, unknown>) => [id, change, document])
      .sort()
    expect(seen).toEqual([
      ['a', 'created', { id: 'a', year: 2000 }],
      ['a', 'deleted', undefined],
      ['a', 'replaced', { id: 'a', year: 2001 }],
      ['b', 'deleted', undefined],
    ])
    expect((await changes('?include=document')).at(-1).document).toEqual({
      id: 'a',
      year: 2001,
      text: 'x',
    })
    for (const query of [
      'sort=year',
      'cursor=x',
      'limit=0',
      'limit=1001',
      'include=x',
      'after=x',
    ]) {
      expect([query, (await send('GET', `/_feed/notes/changes?${query}`)).status]).toEqual([
        query,
        400,
      ])
    }
  })

  test('a position whose changes have expired gets 410', async () => {
    const { last } = await turnOn()
    for (const id of ['a', 'b']) await send('POST', '/notes', { id })
    const store = await node.openStore()
    await store.db.updateTable('feed_entries').set({ at: 0 }).where('last', '=', 1).execute()
    await createFeeds(store).prune(Date.now(), () => false)
    await store.close()
    const gone = await send('GET', `/_feed/notes/changes?after=${last}`)
    expect([gone.status, gone.json.id]).toEqual([410, 'gone'])
    expect(await changes(`?after=${gone.json.first}`)).toMatchObject([{ id: 'b' }])
    const all = await changes()
    expect(all).toMatchObject([{ id: 'b', position: gone.json.last }])
  })

  test('a long poll waits for the next change', async () => {
    const { last } = await turnOn()
    const path = `/_feed/notes/changes?after=${last}&limit=1`
    const none = await send('GET', path, undefined, { Prefer: 'wait=0' })
    expect(none.json).toEqual([])
    const waiting = send('GET', path, undefined, { Prefer: 'wait=600' })
    await expect.poll(async () => (await send('GET', '/_feed/notes')).json.followers).toBe(1)
    await send('POST', '/notes', { id: 'a' })
    const response = await waiting
    expect(response.headers['preference-applied']).toBe('wait=60')
    expect(response.json).toMatchObject([{ id: 'a', change: 'created' }])
    const ended = send(
      'GET',
      `/_feed/notes/changes?after=${response.json[0].position}`,
      undefined,
      {
        Prefer: 'wait=60',
      },
    )
    await expect.poll(async () => (await send('GET', '/_feed/notes')).json.followers).toBe(1)
    await send('DELETE', '/_feed/notes')
    expect((await ended).status).toBe(404)
  })

  test('a stream sends changes and resumes after the last one', async () => {
    const { last } = await turnOn()
    await send('POST', '/notes', { id: 'a' })
    const stream = await open(`/_feed/notes/changes?after=${last}&include=document`)
    await stream.until('"id":"a"')
    await send('PUT', '/notes/a', { n: 1 })
    const text = await stream.until('"n":1')
    stream.close()
    const ids = [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? '')
    expect(ids).toHaveLength(3)
    expect(ids[0]).toBe(last)
    const resumed = await open('/_feed/notes/changes', { 'Last-Event-ID': ids[1] ?? '' })
    const rest = await resumed.until('"replaced"')
    expect(rest).not.toContain('"created"')
    expect((await open('/_feed/notes/changes', { 'Last-Event-ID': '000000000000-1' })).status).toBe(
      410,
    )
    await send('DELETE', '/_feed/notes')
    await resumed.ended
  })

  test('a stream ends with the access of its caller', async () => {
    await turnOn()
    const owner = { role: 'viewer', databases: ['blog'] }
    const create = async (name: string) =>
      (await node.request('POST', '/_api/token', { ...owner, name })).json
    const revoked = await create('revoked')
    const dropped = await create('dropped')
    const path = '/_feed/notes/changes'
    const streamOf = ({ token }: { token: string }) =>
      open(path, { Authorization: `Bearer ${token}` })
    const [first, second] = [await streamOf(revoked), await streamOf(dropped)]
    await Promise.all([first.until('retry'), second.until('retry')])
    await node.request('DELETE', `/_api/token/${revoked.info.id}`)
    await first.ended
    await send('POST', '/notes', { id: 'a' })
    await second.until('"id":"a"')
    await node.request('DELETE', '/_api/database/blog')
    await second.ended
  })

  test('a stream ends with its endpoint, also if that serves other databases', async () => {
    await turnOn()
    const ports = await freePorts(2)
    const map = (port: number, databases: string[]) =>
      node.request('POST', '/_api/endpoint', { endpoint: `tcp://127.0.0.1:${port}`, databases })
    const [mapped, removed] = await Promise.all(
      ports.map(async (port) => {
        await map(port, ['blog'])
        const stream = await open('/_feed/notes/changes', {}, port)
        await stream.until('retry')
        return stream
      }),
    )
    await map(ports[0] ?? 0, ['_system'])
    await mapped?.ended
    await send('POST', '/notes', { id: 'a' })
    await removed?.until('"id":"a"')
    await node.request('DELETE', `/_api/endpoint?endpoint=tcp://127.0.0.1:${ports[1]}`)
    await removed?.ended
  })

  test('a follower that does not read is disconnected, and others are not', async () => {
    await turnOn()
    const path = '/_db/blog/_feed/notes/changes?include=document'
    const idle = connect(node.port, '127.0.0.1')
    onTestFinished(() => void idle.destroy())
    idle.on('error', () => {})
    idle.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n` +
        `Authorization: Bearer ${node.token}\r\n\r\n`,
    )
    idle.pause()
    const other = await open('/_feed/notes/changes')
    const followers = async () => (await send('GET', '/_feed/notes')).json.followers
    await expect.poll(followers).toBe(2)
    // More than the system buffers.
    for (let id = 0; id < 8; id++) {
      await send('POST', '/notes', { id: `${id}`, text: 'x'.repeat(900_000) })
    }
    await other.until('"id":"7"')
    // The node looks for such clients once a second, and closes their connections after 30 s.
    const looks = intervals.mock.calls.filter(([, ms]) => ms === CHECK)
    await expect
      .poll(() => {
        for (let second = 0; second <= 30; second++) for (const [look] of looks) look()
        return followers()
      })
      .toBe(1)
    await send('POST', '/notes', { id: 'last' })
    await other.until('"last"')
  })

  test('the followers of a caller are limited, and ending one frees a place', async () => {
    await turnOn()
    const path = '/_feed/notes/changes'
    const all = await Promise.all(Array.from({ length: 101 }, () => open(path)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(100)
    const rejected = all.find(({ status }) => status !== 200)
    expect(rejected?.status).toBe(429)
    const waiting = await send('GET', path, undefined, { Prefer: 'wait=60' })
    expect(waiting.status).toBe(429)
    all.find(({ status }) => status === 200)?.close()
    await expect.poll(async () => (await open(path)).status).toBe(200)
  })
})
