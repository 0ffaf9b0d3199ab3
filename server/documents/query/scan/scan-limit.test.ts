import { expect, it } from 'vitest'
import { INDEXED_READ, ScanLimit } from './scan-limit.ts'

const limits = { running: 1, waiting: 1, wait: 60_000, duration: 10_000 }
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

it('stops a query that takes too long', async () => {
  let now = 0
  const scans = new ScanLimit(limits, () => now)
  let reads = 0
  const running = scans.run(forever, async (check) => {
    for (;;) {
      check()
      reads++
      now += 4_000
    }
  })
  await expect(running).rejects.toMatchObject({ code: 'query-too-expensive' })
  expect(reads).toBe(3)
  await scans.run(forever, async (check) => check())
})

it('does not count the pauses of a query', async () => {
  let now = 0
  const scans = new ScanLimit(limits, () => now)
  await scans.run(forever, async (check) => {
    check()
    now += 40_000
    check(30_000)
    now += 1
    expect(() => check()).toThrow('The query was stopped after 10 s')
  })
})

it('stops a query, and leaves the queue, when the client disconnects', async () => {
  const scans = new ScanLimit(limits)
  const client = new AbortController()
  let reads = 0
  const running = scans.run(client.signal, async (check) => {
    for (;;) {
      check()
      reads++
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
    scans.runIndexed(forever, async (check) => {
      for (let scanned = 0; scanned < most; scanned += 1_000) await check(scanned, 0)
      return most
    })
  expect(await readUpTo(INDEXED_READ.entries)).toBe(INDEXED_READ.entries)
  await expect(readUpTo(INDEXED_READ.entries + 1)).rejects.toMatchObject({ code: 'busy' })
  const readBytes = scans.runIndexed(forever, (check) => check(0, INDEXED_READ.bytes))
  await expect(readBytes).rejects.toMatchObject({ code: 'busy' })
  resolve()
  await first
  expect(await readUpTo(INDEXED_READ.entries + 1)).toBe(INDEXED_READ.entries + 1)
  await scans.run(forever, async (check) => check())
})
