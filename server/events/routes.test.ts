import { type IncomingMessage, request } from 'node:http'
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AppEnv } from '../http/env.ts'
import { OUR_PAGE, operatorSession } from '../operator-session.testing.ts'
import { ask, startForTest, type TestNode } from '../start.testing.ts'
import { createEventHub } from './hub.ts'
import { eventRoutes } from './routes.ts'

describe('a stream of a running node', () => {
  let node: TestNode
  beforeEach(async () => {
    node = await startForTest()
  })
  afterEach(() => node.stop())

  /** Opens a stream, and resolves once it runs. */
  const follow = async (headers: Record<string, string>) => {
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      const where = { port: node.port, path: '/_api/events', headers, agent: false }
      request({ host: '127.0.0.1', ...where }, resolve)
        .on('error', reject)
        .end()
    })
    let text = ''
    const ended = new Promise<number>((resolve) =>
      stream.on('end', () => resolve(performance.now())),
    )
    await new Promise<void>((resolve) => {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.includes('hello')) resolve()
      })
    })
    return { ended, text: () => text }
  }

  test('ends with the sign-out of its session at once, and no other does', async () => {
    const [mine, other] = [await operatorSession(node), await operatorSession(node)]
    const streams = [await follow({ Cookie: mine }), await follow({ Cookie: other })]
    const out = await ask(node.port, 'DELETE', '/_api/session', {
      headers: { Cookie: mine, ...OUR_PAGE },
    })
    expect(out.status).toBe(200)
    const told = performance.now()
    // Without being told, a stream looks only with its next word, every 15 s.
    expect(((await streams[0]?.ended) ?? Infinity) - told).toBeLessThan(2_000)
    await node.ask('POST', '/_api/database', { name: 'later' })
    await expect.poll(() => streams[1]?.text()).toContain('later')
    expect(streams[0]?.text()).not.toContain('later')
  })

  test('ends with the revocation of its token at once', async () => {
    const made = await node.ask('POST', '/_api/token', { name: 'a', role: 'viewer' })
    const stream = await follow({ Authorization: `Bearer ${made.json.token}` })
    await node.ask('DELETE', `/_api/token/${made.json.info.id}`)
    const told = performance.now()
    expect((await stream.ended) - told).toBeLessThan(2_000)
  })
})

test('HEAD leaves no reader behind', async () => {
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
  const pass = createMiddleware<AppEnv>((_, next) => next())
  const app = new Hono<AppEnv>().route(
    '/',
    eventRoutes(
      counting,
      () => pass,
      async () => true,
    ),
  )
  const via = { draining: new AbortController().signal } as AppEnv['Bindings']['via']
  const answer = await app.request('/', { method: 'HEAD' }, { via })
  expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/event-stream'])
  expect(readers).toBe(0)
})
