import { expect, test } from 'vitest'
import { createBackgroundLoop } from './background-loop.ts'

/** Returns work whose runs the test ends. */
function createWork() {
  const runs: PromiseWithResolvers<void>[] = []
  const run = () => {
    const end = Promise.withResolvers<void>()
    runs.push(end)
    return end.promise
  }
  return { runs, run }
}

test('calls during a run cause one more run', async () => {
  const { runs, run } = createWork()
  const loop = createBackgroundLoop(run, () => {})
  loop.wake()
  loop.wake()
  loop.wake()
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await expect.poll(() => runs.length).toBe(2)
  runs[1]?.resolve()
  await loop.stop()
  expect(runs).toHaveLength(2)
})

test('a failed run is reported, and the next one runs', async () => {
  const { runs, run } = createWork()
  const errors: unknown[] = []
  const loop = createBackgroundLoop(run, (error) => errors.push(error))
  loop.wake()
  loop.wake()
  runs[0]?.reject('broken')
  await expect.poll(() => runs.length).toBe(2)
  expect(errors).toEqual(['broken'])
  runs[1]?.resolve()
  await loop.stop()
})

test('a stop waits for the run in progress and prevents others', async () => {
  const { runs, run } = createWork()
  const stops: (() => boolean)[] = []
  const loop = createBackgroundLoop(
    (isStopped) => {
      stops.push(isStopped)
      return run()
    },
    () => {},
  )
  loop.wake()
  loop.wake()
  const stopped = loop.stop()
  expect(stops[0]?.()).toBe(true)
  runs[0]?.resolve()
  await stopped
  loop.wake()
  expect(runs).toHaveLength(1)
})
