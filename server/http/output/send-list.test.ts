import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { Failure } from '../../failure.ts'
import { countTurns } from '../../test-support/count-turns.testing.ts'
import type { AppEnv } from '../env.ts'
import { createSendList } from './send-list.ts'

/**
 * Sends a list. Returns the response, the bytes reserved for it, and the number of turns that
 * serializing took.
 */
async function send(items: Iterable<unknown>) {
  let reserved = 0
  const sendList = createSendList(async (_, bytes) => {
    reserved = bytes
  })
  const app = new Hono<AppEnv>().get('/', (c) => sendList(c, items))
  let response = new Response()
  const turns = await countTurns(async () => {
    response = await app.request('/')
  })
  return { response, text: await response.text(), reserved, turns }
}

it('sends a short list synchronously', async () => {
  for (const list of [[], [{ a: 'é' }], [1, null, 'x']]) {
    const { response, text, reserved, turns } = await send(list.values())
    expect(text).toBe(JSON.stringify(list))
    expect([reserved, turns]).toEqual([Buffer.byteLength(text), 0])
    expect(response.headers.get('Content-Type')).toBe('application/json; charset=utf-8')
  }
})

it('prints a long list in several turns, with its items taken in the first', async () => {
  const list = Array.from({ length: 5_000 }, (_, n) => ({ n, text: 'é'.repeat(50) }))
  const { response, text, reserved, turns } = await send(list)
  expect(JSON.parse(text)).toEqual(list)
  expect(turns).toBeGreaterThan(4)
  expect(String(reserved)).toBe(response.headers.get('Content-Length'))
  expect(reserved).toBe(Buffer.byteLength(text))
})

it('reserves memory before each step, and ends when there is none', async () => {
  const reserved: number[] = []
  let taken = 0
  const items = (function* () {
    for (; taken < 100; taken++) yield 'x'.repeat(64 * 1024)
  })()
  const sendList = createSendList(async (_, bytes) => {
    reserved.push(bytes)
    if (bytes > 1024 * 1024) throw new Failure('unavailable', 'too much')
  })
  const app = new Hono<AppEnv>().get('/', (c) => sendList(c, items))
  expect((await app.onError(() => new Response(null, { status: 503 })).request('/')).status).toBe(
    503,
  )
  expect(reserved.every((bytes, at) => at === 0 || bytes > (reserved[at - 1] ?? 0))).toBe(true)
  expect(taken).toBeLessThan(20)
})
