import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { type Context, Hono } from 'hono'
import { describe, expect, it, vi } from 'vitest'
import { SHARE } from '../../../concurrency/turn-share.ts'
import { BODY_STALLED } from '../../../contract/request-body.ts'
import { collectGarbage } from '../../../test-support/collect-garbage.testing.ts'
import type { AppEnv } from '../../env.ts'
import { renderFailure, toFailure } from '../../output/render-failure.ts'
import { ARRAY_BYTES, bodyBudget, formBudget } from './body-budget.ts'
import { bodyChunks, readBody, readForm } from './request-body.ts'

const app = new Hono<AppEnv>()
  .post('/', async (c) => c.body(Buffer.from(await readBody(c, 10)).toString()))
  .post('/form', async (c) => c.json(Object.fromEntries(await readForm(c))))
app.onError((error, c) => renderFailure(toFailure(error), c))

const NO_SOCKET = { listener: {} } as AppEnv['Bindings']

/** Sends a request whose body the test writes. */
function send(path = '/', headers: Record<string, string> = {}, to: Hono<AppEnv> = app) {
  const incoming = new PassThrough()
  const response = Promise.resolve(
    to.request(path, { method: 'POST', headers }, {
      incoming,
      listener: {},
    } as unknown as AppEnv['Bindings']),
  )
  return { incoming, response }
}

describe('readBody', () => {
  it('returns a body that has arrived', async () => {
    const { incoming, response } = send()
    incoming.write('12345')
    incoming.end('67890')
    expect(await (await response).text()).toBe('1234567890')
    const whole = await app.request('/', { method: 'POST', body: '1234567890' }, NO_SOCKET)
    expect(await whole.text()).toBe('1234567890')
  })

  it.each([
    ['chunked', 200],
    ['Chunked', 200],
    ['gzip, chunked', 400],
    ['chunked, chunked', 400],
  ])('a body with the transfer coding %s gets %i', async (coding, status) => {
    for (const path of ['/', '/form']) {
      const { incoming, response } = send(path, { 'Transfer-Encoding': coding })
      incoming.end('a=b')
      expect((await response).status).toBe(status)
    }
  })

  it.each([
    ['', 200],
    [' , ,', 200],
    ['Identity', 200],
    ['identity,', 200],
    ['GZIP', 200],
    [', x-gzip, identity', 200],
    ['gzip, gzip', 415],
    ['br', 415],
    ['identity, br', 415],
  ])('a body with the content coding %j gets %i', async (coding, status) => {
    const { incoming, response } = send('/', { 'Content-Encoding': coding })
    const text = '1234567890'
    incoming.end(/gzip/i.test(coding) ? gzipSync(text) : text)
    const got = await response
    expect(got.status).toBe(status)
    if (status === 200) expect(await got.text()).toBe(text)
  })

  it('bodies that end together after their heads are handled in several turns', async () => {
    let [time, turn] = [performance.now(), 0]
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    let counting = setImmediate(function count() {
      turn++
      counting = setImmediate(count)
    })
    const turns = new Set<number>()
    const counter = new Hono<AppEnv>().post('/', async (c) => {
      const body = await readBody(c, 10)
      time += SHARE
      turns.add(turn)
      return c.body(Buffer.from(body).toString())
    })
    const sent = [1, 2, 3].map(() => send('/', {}, counter))
    await new Promise(setImmediate)
    for (const { incoming } of sent) incoming.end('12345')
    const responses = await Promise.all(sent.map(({ response }) => response))
    clearImmediate(counting)
    clock.mockRestore()
    for (const response of responses) expect(await response.text()).toBe('12345')
    expect(turns.size).toBe(3)
  })

  it('is not handled if the client disconnects while it waits after its body', async () => {
    let time = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
    const sent = ['first', 'second'].map((name) => {
      const outgoing = Object.assign(new EventEmitter(), { destroyed: false })
      return { name, incoming: new PassThrough(), outgoing }
    })
    const handled: unknown[] = []
    const recorder = new Hono<AppEnv>().post('/:name', async (c) => {
      await readBody(c, 10)
      handled.push(c.req.param('name'))
      time += SHARE
      for (const { outgoing } of sent) outgoing.destroyed = true
      return c.body(null)
    })
    recorder.onError((error, c) => renderFailure(toFailure(error), c))
    const responses = sent.map(({ name, incoming, outgoing }) => {
      const bindings = { incoming, outgoing, listener: {} } as unknown as AppEnv['Bindings']
      return recorder.request(`/${name}`, { method: 'POST' }, bindings)
    })
    await new Promise(setImmediate)
    for (const { incoming } of sent) incoming.end('12345')
    await Promise.all(responses)
    clock.mockRestore()
    for (const { outgoing } of sent) outgoing.emit('close')
    expect(handled).toEqual(['first'])
  })

  it('keeps none of many small chunks', async () => {
    const { incoming, response } = send()
    const chunks = ['1', '2', '3'].map((each) => Buffer.from(each))
    for (const chunk of chunks) {
      incoming.write(chunk)
      await new Promise(setImmediate)
      chunk.fill('-')
    }
    incoming.end()
    // The first chunk is kept, because most bodies arrive in one.
    expect(await (await response).text()).toBe('-23')
  })

  it('rejects a body that is too large as early as possible', async () => {
    const { incoming, response } = send()
    incoming.write('12345678901')
    expect((await response).status).toBe(413)
    expect((await send('/', { 'Content-Length': '11' }).response).status).toBe(413)
    const whole = await app.request('/', { method: 'POST', body: '12345678901' }, NO_SOCKET)
    expect(whole.status).toBe(413)
  })

  it('rejects a body beyond the budget before it reads it', async () => {
    const release = bodyBudget.reserve(bodyBudget.limit - 5)
    const { incoming, response } = send('/', { 'Content-Length': '6' })
    incoming.write('123456')
    const { status, headers } = await response
    expect([status, headers.get('Retry-After')]).toEqual([503, '5'])
    expect(incoming.readableLength).toBe(6)
    const fits = send('/', { 'Content-Length': '5' })
    fits.incoming.end('12345')
    expect((await fits.response).status).toBe(200)
    release()
    expect(bodyBudget.held).toBe(0)
  })

  it.each<Record<string, string>>([{}, { 'Content-Encoding': 'gzip' }])(
    'holds nothing for a client that has disconnected before the body is read: %j',
    async (headers) => {
      const failed = Promise.withResolvers<Response>()
      const server = createServer((incoming, outgoing) => {
        const bindings = { incoming, outgoing, listener: {} } as unknown as AppEnv['Bindings']
        outgoing.once('close', async () => {
          failed.resolve(await app.request('/', { method: 'POST', headers }, bindings))
        })
        incoming.socket.destroy()
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const socket = connect(port, '127.0.0.1')
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345')
      expect((await failed.promise).ok).toBe(false)
      expect(bodyBudget.held).toBe(0)
      socket.destroy()
      server.close()
    },
  )

  it('responds with 408 and the limit if the body stalls', async () => {
    const { incoming, response } = send()
    incoming.write('123')
    incoming.emit(BODY_STALLED)
    const { status, headers } = await response
    expect([status, headers.get('Connection')]).toEqual([408, 'close'])
    expect(await (await response).json()).toEqual({
      id: 'request_timeout',
      message: 'The body arrived too slowly. Send at least 4 KiB every 10 seconds.',
    })
  })

  it.each<[string, (incoming: PassThrough) => unknown]>([
    ['leaves', (incoming) => incoming.destroy()],
    ['breaks off', (incoming) => incoming.destroy(new Error('reset'))],
  ])('ends if the client %s', async (_what, happen) => {
    const { incoming, response } = send()
    incoming.write('123')
    happen(incoming)
    expect((await response).status).toBe(500)
    const later = new PassThrough()
    happen(later)
    later.on('error', () => {})
    const env = { incoming: later, listener: {} } as unknown as AppEnv['Bindings']
    expect((await app.request('/', { method: 'POST' }, env)).status).toBe(500)
  })
})

describe('bodyChunks', () => {
  it('releases the budget with the response if the caller stops reading', async () => {
    const [incoming, outgoing] = [new PassThrough(), new EventEmitter()]
    const context = { env: { incoming, outgoing, listener: {} }, req: { header: () => undefined } }
    const chunks = bodyChunks(context as unknown as Context<AppEnv>)
    incoming.write('[')
    await chunks.next()
    expect(bodyBudget.held).toBe(ARRAY_BYTES)
    outgoing.emit('close')
    expect(bodyBudget.held).toBe(0)
  })

  it('holds no chunk that the caller has read', async () => {
    const incoming = new PassThrough()
    const context = { env: { incoming, listener: {} }, req: { header: () => undefined } }
    const chunks = bodyChunks(context as unknown as Context<AppEnv>)
    const first: WeakRef<object>[] = []
    for (let n = 0; n < 3; n++) {
      incoming.write(Buffer.alloc(100))
      const { value } = await chunks.next()
      first.push(new WeakRef(value as object))
    }
    await expect
      .poll(() => {
        collectGarbage()
        return first[0]?.deref() === undefined
      })
      .toBe(true)
    await chunks.return(undefined)
  })
})

describe('readForm', () => {
  it('shares no memory with other bodies', async () => {
    const status = async (path: string) => {
      const { incoming, response } = send(path)
      incoming.end('key=value')
      return (await response).status
    }
    const releaseBodies = bodyBudget.reserve(bodyBudget.limit)
    expect([await status('/'), await status('/form')]).toEqual([503, 200])
    releaseBodies()
    const releaseForms = formBudget.reserve(formBudget.limit)
    expect([await status('/'), await status('/form')]).toEqual([200, 503])
    releaseForms()
    expect([bodyBudget.held, formBudget.held]).toEqual([0, 0])
  })

  it('returns the fields of a form of up to 16 KiB', async () => {
    const { incoming, response } = send('/form')
    incoming.end('a=1&b=%C3%BC')
    expect(await (await response).json()).toEqual({ a: '1', b: 'ü' })
    const larger = send('/form')
    larger.incoming.end('x'.repeat(16 * 1024 + 1))
    expect(await (await larger.response).json()).toMatchObject({
      message: 'The body is larger than 16 KiB.',
    })
  })
})
