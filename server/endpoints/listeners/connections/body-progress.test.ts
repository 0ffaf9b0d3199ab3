import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { BODY_PROGRESS, BODY_STALLED } from '../../../contract/request-body.ts'
import { collectGarbage } from '../../../test-support/collect-garbage.testing.ts'
import { oldGeneration } from '../../../test-support/old-generation.testing.ts'
import { BodyProgress } from './body-progress.ts'

describe('BodyProgress', () => {
  let progress: BodyProgress
  let socket: { bytesRead: number; destroyed: boolean; said: string[] }

  beforeEach(() => {
    progress = new BodyProgress({ bytes: 100, ms: 1_000 })
    socket = { bytesRead: 50, destroyed: false, said: [] }
  })

  /** Returns a request that is watched from time 0, and its response. */
  function upload(over: object = {}, responded: object = {}) {
    const request = Object.assign(new EventEmitter(), {
      headers: { 'content-length': '1000' },
      complete: false,
      readableLength: 0,
      socket: Object.assign(socket, {
        write: (text: string) => socket.said.push(text),
        destroySoon: () => socket.said.push('closed'),
      }),
      ...over,
    })
    const response = { headersSent: false, socket, ...responded }
    const asRequest = request as unknown as IncomingMessage
    progress.add(asRequest, response as unknown as ServerResponse, 0)
    return Object.assign(request, { respond: () => progress.responded(asRequest) })
  }

  it('closes a connection whose body sends too few bytes in a period', () => {
    upload()
    socket.bytesRead += 99
    progress.check(999)
    expect(socket.said).toEqual([])
    progress.check(1_000)
    expect(socket.said).toEqual([expect.stringMatching(/^HTTP\/1\.1 408 /), 'closed'])
    progress.check(5_000)
    expect(socket.said).toHaveLength(2)
  })

  it('accepts a slow body that makes progress', () => {
    upload()
    for (let now = 500; now < 100_000; now += 500) {
      socket.bytesRead += 50
      progress.check(now)
    }
    expect(socket.said).toEqual([])
    progress.check(101_500)
    expect(socket.said).toContain('closed')
  })

  it('does not count time during which the server reads nothing', () => {
    const request = upload({ readableLength: 16_384 })
    for (let now = 0; now <= 10_000; now += 500) progress.check(now)
    request.readableLength = 0
    progress.check(10_999)
    expect(socket.said).toEqual([])
    progress.check(11_000)
    expect(socket.said).toContain('closed')
  })

  it('rejects the pending read of a body, so that its reader responds', () => {
    let stalled = 0
    upload().on(BODY_STALLED, () => stalled++)
    progress.check(1_000)
    progress.check(9_000)
    expect([stalled, socket.said]).toEqual([1, []])
  })

  it.each([
    ['has begun', { headersSent: true }],
    ['waits for another on its connection', { socket: null }],
  ])('closes the connection without a response if the response %s', (_why, response) => {
    upload({}, response)
    progress.check(1_000)
    expect(socket.said).toEqual(['closed'])
  })

  it.each([
    ['no body', { headers: {} }],
    ['an empty body', { headers: { 'content-length': '0' } }],
    ['a body that has arrived', { complete: true }],
  ])('ignores a request with %s', (_what, over) => {
    upload(over)
    progress.check(1_000)
    expect(socket.said).toEqual([])
  })

  it('keeps requests out of the old generation of the heap', () => {
    const connections = Array.from({ length: 64 }, () => ({ bytesRead: 0, destroyed: false }))
    /** Handles a request of 8 KB on each connection while the others are in progress. */
    const current = new Map<object, ReturnType<typeof upload>>()
    const handleAll = () => {
      for (const connection of connections) {
        const last = current.get(connection)
        if (last) last.complete = true
        last?.respond()
        socket = Object.assign(connection, { said: [] })
        current.set(connection, upload({ headers: { 'content-length': '5' }, data: Array(1_000) }))
      }
    }
    handleAll()
    collectGarbage()
    const before = oldGeneration()
    for (let times = 0; times < 100; times++) {
      handleAll()
      collectGarbage({ type: 'minor' })
    }
    // All requests are 50 MiB.
    expect(oldGeneration() - before).toBeLessThan(5 * 1024 * 1024)
  })

  it('keeps neither handled requests nor closed connections in memory', async () => {
    const watch = () => {
      const connection = { bytesRead: 0, destroyed: false }
      const headers = { 'content-length': '5' }
      const request = { headers, complete: false, readableLength: 0, socket: connection }
      const asRequest = request as unknown as IncomingMessage
      progress.add(asRequest, {} as ServerResponse, 0)
      return { request, connection, respond: () => progress.responded(asRequest) }
    }
    const open: object[] = []
    const kept = [
      () => {
        const { request, connection, respond } = watch()
        open.push(connection)
        request.complete = true
        respond()
        return new WeakRef<object>(request)
      },
      () => {
        const { connection } = watch()
        connection.destroyed = true
        return new WeakRef<object>(connection)
      },
    ].map((make) => make())
    progress.check(1)
    await new Promise(setImmediate)
    collectGarbage()
    expect(kept.map((each) => each.deref())).toEqual([undefined, undefined])
    expect(open).toHaveLength(1)
  })

  it('watches the rest of a body after the response', () => {
    upload({ headers: { 'transfer-encoding': 'chunked' } }).respond()
    progress.check(1_000)
    expect(socket.said).toContain('closed')
    const whole = upload()
    whole.complete = true
    whole.respond()
    whole.complete = false
    progress.check(9_000)
    expect(socket.said.filter((each) => each === 'closed')).toHaveLength(1)
  })
})

it('requires 4 KiB in 10 s', () => {
  expect(BODY_PROGRESS).toEqual({ bytes: 4_096, ms: 10_000 })
})
