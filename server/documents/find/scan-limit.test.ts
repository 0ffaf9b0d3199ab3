import { expect, it } from 'vitest'
import { INDEXED_READ, ScanLimit } from './scan-limit.ts'

const limits = { running: 1, waiting: 1, wait: 60_000, work: 10_000 }
const forever = new AbortController().signal

it('runs queries in order, and rejects queries when too many wait', async () => {
  const scans = new ScanLimit(limits)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = scans.run(forever, () => promise)
  const second = scans.run(forever, async () => 'second')
  await expect(scans.run(forever, async () => 'third')).rejects.toMatchObject({
    code: 'busy',
    headers: { 'Retry-After': '1' },
  })
  resolve()
  await first
  expect(await second).toBe('second')
})

it('rejects a query that waits too long', async () => {
  const scans = new ScanLimit({ ...limits, wait: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = scans.run(forever, () => promise)
  await expect(scans.run(forever, async () => {})).rejects.toMatchObject({ code: 'busy' })
  resolve()
  await first
})

it('stops a query that works for too long', async () => {
  let now = 0
  const scans = new ScanLimit(limits, () => now)
  let steps = 0
  const running = scans.run(forever, async (step) => {
    for (;;) {
      await step(() => {
        steps++
        now += 4_000
      })
    }
  })
  await expect(running).rejects.toMatchObject({
    code: 'query-too-expensive',
    message: expect.stringContaining('after 10 s'),
  })
  expect(steps).toBe(3)
  await scans.run(forever, (step) => step(() => {}))
})

it('stops a query, and leaves the queue, when the client disconnects', async () => {
  const scans = new ScanLimit(limits)
  const client = new AbortController()
  let reads = 0
  const running = scans.run(client.signal, async (step) => {
    for (;;) {
      await step(() => ++reads)
      await new Promise(setImmediate)
      if (reads === 3) client.abort()
    }
  })
  const waiting = scans.run(client.signal, async () => {})
  await expect(running).rejects.toMatchObject({ code: 'busy' })
  await expect(waiting).rejects.toMatchObject({ code: 'busy' })
  expect(reads).toBe(3)
  expect(scans.waiting).toBe(0)
})

it('limits a query by an index once it has read many entries', async () => {
  const scans = new ScanLimit({ ...limits, wait: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = scans.run(forever, () => promise)
  const readUpTo = (most: number) =>
    scans.runIndexed(forever, async (step) => {
      for (let scanned = 0; scanned < most; scanned += 1_000) await step(scanned, 0, () => {})
      return most
    })
  expect(await readUpTo(INDEXED_READ.entries)).toBe(INDEXED_READ.entries)
  await expect(readUpTo(INDEXED_READ.entries + 1)).rejects.toMatchObject({ code: 'busy' })
  const readBytes = scans.runIndexed(forever, (step) => step(0, INDEXED_READ.bytes, () => {}))
  await expect(readBytes).rejects.toMatchObject({ code: 'busy' })
  resolve()
  await first
  expect(await readUpTo(INDEXED_READ.entries + 1)).toBe(INDEXED_READ.entries + 1)
  await scans.run(forever, (step) => step(() => {}))
})
