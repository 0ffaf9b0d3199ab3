import { beforeEach, expect, it } from 'vitest'
import { PACE, ScanPace } from './scan-pace.ts'

/** The clock of the test, ms. */
let time: number
/** Share of the time of a pause in which the event loop is active. */
let load: number
let active: number
/** The pauses, ms. */
let pauses: number[]
let pace: ScanPace

beforeEach(() => {
  time = 0
  load = 0
  active = 0
  pauses = []
  pace = new ScanPace({
    now: () => time,
    async sleep(ms) {
      pauses.push(ms)
      time += ms
      active += ms * load
    },
    idle: () => time - active,
  })
})

/** Runs steps that take `ms` each. */
async function work(ms: number, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await pace.run(() => {
      time += ms
      active += ms
    })
  }
}

it('probes the event loop of an idle node after some work, and continues', async () => {
  await work(PACE.work / 4, 13)
  expect(pauses).toEqual([PACE.probe, PACE.probe, PACE.probe])
})

it.each([
  ['in proportion to the work', PACE.work, PACE.factor * PACE.work - PACE.probe],
  ['at most for a limit', PACE.pause, PACE.pause - PACE.probe],
])('pauses longer on a busy node: %s', async (_, ms, pause) => {
  load = 1
  await work(ms, 3)
  expect(pauses).toEqual([PACE.probe, pause, PACE.probe, pause])
})

it('pauses longer only while the node is busy', async () => {
  load = 0.4
  await work(PACE.work, 2)
  expect(pauses).toEqual([PACE.probe])
  load = 0.6
  await work(PACE.work, 1)
  expect(pauses).toEqual([PACE.probe, PACE.probe, PACE.factor * PACE.work - PACE.probe])
})

it('counts the work of concurrent scans once, and pauses all of them together', async () => {
  load = 1
  const scans = [0, 1, 2].map(() => Promise.withResolvers<void>())
  let running = 0
  const running3 = scans.map(async ({ promise }) => {
    await pace.run(async () => {
      running++
      await promise
      running--
    })
  })
  await new Promise(setImmediate)
  expect(running).toBe(3)
  time += PACE.work
  const next = pace.run(() => expect(running).toBe(0))
  for (const { resolve } of scans) {
    await new Promise(setImmediate)
    expect(pauses).toEqual([])
    resolve()
  }
  await Promise.all([...running3, next])
  expect(pauses).toEqual([PACE.probe, PACE.factor * PACE.work - PACE.probe])
})

it('probes in another turn of the event loop than the work', async () => {
  await work(PACE.work, 1)
  const next = work(1, 1)
  for (let step = 0; step < 20; step++) await Promise.resolve()
  expect(pauses).toEqual([])
  await next
  expect(pauses).toEqual([PACE.probe])
})

it('continues after a step that fails', async () => {
  const failing = pace.run(() => {
    time += PACE.work
    throw new Error('failed')
  })
  await expect(failing).rejects.toThrow('failed')
  await work(1, 1)
  expect(pauses).toEqual([PACE.probe])
})
