import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Context } from 'hono'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { AUTHORIZATION_INTERVAL } from '../input/body/request-body.ts'
import { streamText } from './stream-text.ts'

/** Returns the body of a response without a connection, and what happens to its texts. */
function open(
  texts: readonly (string | Error)[],
  deadline = performance.now() + 60_000,
  outgoing?: ServerResponse,
  authorizeAgain?: () => Promise<void>,
) {
  const authorizedAt = performance.now()
  const onError = vi.fn<(error: unknown) => void>()
  const state = { read: 0, ended: false }
  async function* generate() {
    try {
      for (const text of texts) {
        if (text instanceof Error) throw text
        state.read++
        yield text
      }
    } finally {
      state.ended = true
    }
  }
  const c = { env: { outgoing }, get: () => authorizeAgain } as unknown as Context<AppEnv>
  const generated = generate()
  return {
    state,
    onError,
    async begin() {
      const { value = '' } = await generated.next()
      return new Response(
        streamText(c, value ?? '', generated, { authorizedAt, deadline, onError }),
      )
    },
  }
}

test('sends all texts, in chunks, as they are read', async () => {
  const long = 'ü'.repeat(100_000)
  const { state, onError, begin } = open(['first', '', long, 'last'])
  const response = await begin()
  expect(state.read).toBe(1)
  const sizes: number[] = []
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    sizes.push(chunk.length)
    chunks.push(chunk)
  }
  expect(Buffer.concat(chunks).toString()).toBe(`first${long}last`)
  expect(Math.max(...sizes)).toBe(64 * 1024)
  expect(state.ended).toBe(true)
  expect(onError).not.toHaveBeenCalled()
})

test('does not end like a complete response if a text fails', async () => {
  const failure = new Error('unreadable')
  const { state, onError, begin } = open(['first', failure])
  await expect((await begin()).text()).rejects.toBe(failure)
  expect(onError).toHaveBeenCalledWith(failure)
  expect(state.ended).toBe(true)
})

test('ends at its deadline, also if nothing reads it', async () => {
  const { state, onError, begin } = open(['first', 'second'], performance.now())
  const response = await begin()
  await expect.poll(() => state.ended).toBe(true)
  expect(onError).toHaveBeenCalledOnce()
  await expect(response.text()).rejects.toThrow('too slowly')
})

test('ends the texts when the client disconnects', async () => {
  const { state, onError, begin } = open(['first', 'second', 'third'])
  const reader = (await begin()).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  expect(state).toEqual({ read: 1, ended: true })
  expect(onError).not.toHaveBeenCalled()
})

test('reports no error of a text after the client has disconnected', async () => {
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()))
  const texts = ['first', new Error('The client has disconnected.')]
  const { state, onError, begin } = open(texts, undefined, outgoing)
  const reader = (await begin()).body?.getReader()
  await reader?.read()
  outgoing.destroy()
  void reader?.read()
  await expect.poll(() => state.ended).toBe(true)
  expect(onError).not.toHaveBeenCalled()
})

test('ends when the caller has lost access', async () => {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const revoked = new Error('revoked')
  const authorizeAgain = vi.fn(async () => {})
  const texts = ['first', 'second', 'third', 'last']
  const { state, onError, begin } = open(texts, now + 60_000, undefined, authorizeAgain)
  const reader = (await begin()).body?.getReader()
  await reader?.read()
  expect(authorizeAgain).not.toHaveBeenCalled()
  now += AUTHORIZATION_INTERVAL
  await reader?.read()
  await reader?.read()
  expect(authorizeAgain).toHaveBeenCalledOnce()
  now += AUTHORIZATION_INTERVAL
  authorizeAgain.mockRejectedValue(revoked)
  await expect(reader?.read()).rejects.toBe(revoked)
  expect(onError).toHaveBeenCalledExactlyOnceWith(revoked)
  expect(state).toEqual({ read: 3, ended: true })
})

test('does not end because the caller cannot be authorized during an outage', async () => {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const authorizeAgain = vi.fn(() => Promise.reject(new Failure('unavailable', 'away')))
  const { onError, begin } = open(['1', '2'], now + 60_000, undefined, authorizeAgain)
  // The export has waited in a queue.
  now += AUTHORIZATION_INTERVAL
  expect(await (await begin()).text()).toBe('12')
  expect(authorizeAgain).toHaveBeenCalledOnce()
  expect(onError).not.toHaveBeenCalled()
})

test('reports one error if its deadline passes while the caller is authorized', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const authorizing = Promise.withResolvers<void>()
  const clock = vi.spyOn(performance, 'now').mockReturnValueOnce(-AUTHORIZATION_INTERVAL)
  onTestFinished(() => clock.mockRestore())
  const { onError, begin } = open(['1'], 60_000, undefined, () => authorizing.promise)
  const reading = (await begin()).text()
  vi.advanceTimersByTime(60_000)
  authorizing.reject(new Error('revoked'))
  await expect(reading).rejects.toThrow('too slowly')
  expect(onError).toHaveBeenCalledOnce()
})
