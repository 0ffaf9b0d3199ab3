import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { releaseMemoryWhenIdle } from './release-memory.ts'

const setFlags = vi.hoisted(() => vi.fn())
vi.mock('node:v8', () => ({ setFlagsFromString: setFlags }))

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A process that allocates 100 MB in small objects, drops them and waits until they are released. */
const PROGRAM = `
  import { releaseMemoryWhenIdle } from '${new URL('release-memory.ts', import.meta.url)}'
  const rss = () => process.memoryUsage.rss()
  releaseMemoryWhenIdle(20)
  const before = rss()
  let list = Array.from({ length: 1_000_000 }, (_, n) => ({ n, next: [n] }))
  const most = rss()
  list = undefined
  const timer = setInterval(() => {
    if (rss() - before > (most - before) / 2) return
    clearInterval(timer)
    console.log('released')
  }, 20)
`

test('an idle process returns unused memory to the system', async () => {
  const flags = ['--gc-memory-reducer-start-delay-ms=50', '--input-type=module', '--eval', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 240_000 })
  expect(stdout).toBe('released\n')
})

test('short pauses between requests do not release memory', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let utilization = 0
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => ({
    idle: 0,
    active: 0,
    utilization,
  }))
  releaseMemoryWhenIdle(1)
  vi.advanceTimersByTime(10)
  utilization = 0.5
  vi.advanceTimersByTime(1)
  utilization = 0
  vi.advanceTimersByTime(10)
  expect(setFlags).not.toHaveBeenCalled()
  vi.advanceTimersByTime(10)
  expect(setFlags.mock.calls).toEqual([['--optimize-for-size']])
  utilization = 0.5
  vi.advanceTimersByTime(1)
  expect(setFlags.mock.calls.at(-1)).toEqual(['--no-optimize-for-size'])
  vi.clearAllTimers()
})
