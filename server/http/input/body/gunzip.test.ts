import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { Hono } from 'hono'
import { describe, expect, it, test } from 'vitest'
import { COMPRESSION } from '../../../contract/request-body.ts'
import type { AppEnv } from '../../env.ts'
import { renderFailure, toFailure } from '../../output/render-failure.ts'
import { bodyBudget } from './body-budget.ts'
import { gunzip } from './gunzip.ts'
import { bodyChunks, readBody } from './request-body.ts'

const MIB = 1024 * 1024
/** Longer than a stream buffers. */
const LONG = 'x'.repeat(200_000)

let produced = 0
const app = new Hono<AppEnv>()
  .post('/whole', async (c) => c.text(Buffer.from(await readBody(c, MIB)).toString()))
  .post('/chunks', async (c) => {
    produced = 0
    for await (const chunk of bodyChunks(c)) produced += chunk.length
    return c.text(String(produced))
  })
app.onError((error, c) => renderFailure(toFailure(error), c))

/** Sends a body over a stream, as over a connection. */
function send(path: string, coding: string, body: Uint8Array) {
  const incoming = new PassThrough()
  incoming.end(body)
  const headers = { 'Content-Encoding': coding, 'Content-Length': String(body.length) }
  const env = { incoming, listener: {} } as unknown as AppEnv['Bindings']
  return app.request(path, { method: 'POST', headers }, env)
}

describe('a compressed body', () => {
  test.each(['gzip', 'x-gzip', 'GZip'])('is decompressed: %s', async (coding) => {
    const whole = await send('/whole', coding, gzipSync(LONG))
    expect(await whole.text()).toBe(LONG)
    const chunks = await send('/chunks', coding, gzipSync(LONG))
    expect(await chunks.text()).toBe(String(LONG.length))
    expect(bodyBudget.held).toBe(0)
  })

  test.each(['br', 'deflate', 'zstd', 'gzip, gzip', 'gzip, br'])(
    'gets 415 for another coding: %j',
    async (coding) => {
      for (const path of ['/whole', '/chunks']) {
        const response = await send(path, coding, Buffer.from('{}'))
        expect([response.status, response.headers.get('Accept-Encoding')]).toEqual([415, 'gzip'])
        expect(await response.json()).toMatchObject({ field: 'Content-Encoding' })
      }
    },
  )

  test.each([
    ['is not gzip', Buffer.from('{}')],
    ['is cut', gzipSync(LONG).subarray(0, 40)],
    ['is empty', Buffer.alloc(0)],
    ['has a wrong checksum', Buffer.concat([gzipSync(LONG).subarray(0, -8), Buffer.alloc(8)])],
  ])('gets 400 if it %s', async (_, body) => {
    for (const path of ['/whole', '/chunks']) {
      expect((await send(path, 'gzip', body)).status).toBe(400)
    }
    expect(bodyBudget.held).toBe(0)
  })

  it('gets 413 if it is larger than allowed once it is decompressed', async () => {
    expect((await send('/whole', 'gzip', gzipSync('x'.repeat(MIB)))).status).toBe(200)
    expect((await send('/whole', 'gzip', gzipSync('x'.repeat(MIB + 1)))).status).toBe(413)
  })

  it('gets 413 if it is a decompression bomb, before most of it is decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MIB))
    expect((await send('/chunks', 'gzip', bomb)).status).toBe(413)
    expect(produced).toBeLessThan(COMPRESSION.ratio * bomb.length)
    expect(produced).toBeGreaterThanOrEqual(COMPRESSION.from)
    expect(bodyBudget.held).toBe(0)
  })

  it('is the same however its bytes are split', async () => {
    const parts = fc.array(fc.uint8Array({ minLength: 1, maxLength: 9 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(parts, async (texts) => {
        const body = Buffer.concat(texts)
        const compressed = gzipSync(body)
        async function* chunks() {
          let at = 0
          for (const { length } of texts) {
            yield compressed.subarray(at, at + length)
            at += length
          }
          yield compressed.subarray(at)
        }
        expect(await buffer(gunzip(chunks()))).toEqual(body)
      }),
      { numRuns: 20 },
    )
  })
})

it('passes on an error of the chunks, and closes them if it is not read to the end', async () => {
  const broken = async function* () {
    yield gzipSync(LONG).subarray(0, 20)
    throw new Error('reset')
  }
  await expect(buffer(gunzip(broken()))).rejects.toThrow('reset')
  const closed = Promise.withResolvers<void>()
  const endless = async function* () {
    try {
      for (;;) yield gzipSync(LONG)
    } finally {
      closed.resolve()
    }
  }
  for await (const chunk of gunzip(endless())) {
    expect(chunk.length).toBeGreaterThan(0)
    break
  }
  await closed.promise
})
