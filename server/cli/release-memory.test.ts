import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import v8 from 'node:v8'
import { afterEach, expect, test, vi } from 'vitest'
import { WAIT } from '../test-support/wait.testing.ts'
import { releaseMemoryWhenIdle } from './release-memory.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/**
 * Returns a process that allocates 100 MB, drops nearly all of them and waits until most are
 * released.
 */
const program = (allocate: string, drop: string) => `
  import { releaseMemoryWhenIdle } from '${new URL('release-memory.ts', import.meta.url)}'
  const rss = () => process.memoryUsage.rss()
  releaseMemoryWhenIdle(() => {}, 20)
  const before = rss()
  let list = ${allocate}
  const most = rss()
  list = ${drop}
  const timer = setInterval(() => {
    if (rss() - before > (most - before) / 2) return
    clearInterval(timer)
    console.log('released', list?.length)
  }, 20)
`

test.each([
  ['objects', 'Array.from({ length: 1_000_000 }, (_, n) => ({ n, next: [n] }))', 'undefined'],
  [
    'native memory between other native memory',
    'Array.from({ length: 10_000 }, () => Buffer.allocUnsafeSlow(10_000).fill(1))',
    'list.filter((_, n) => n % 20 === 0)',
  ],
])('an idle process returns unused memory to the system (%s)', async (_, allocate, drop) => {
  const flags = ['--gc-memory-reducer-start-delay-ms=50', '--input-type=module', '--eval']
  const command = [...flags, program(allocate, drop)]
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: 240_000 })
  expect(stdout).toMatch(/^released /)
})

test('short pauses between requests do not release memory', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let utilization = 0
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => ({
    idle: 0,
    active: 0,
    utilization,
  }))
  const setFlags = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue()
  const onRelease = vi.fn()
  releaseMemoryWhenIdle(onRelease, 1)
  vi.advanceTimersByTime(10)
  utilization = 0.5
  vi.advanceTimersByTime(1)
  utilization = 0
  vi.advanceTimersByTime(10)
  expect(setFlags).not.toHaveBeenCalled()
  expect(onRelease).not.toHaveBeenCalled()
  vi.advanceTimersByTime(10)
  expect(setFlags.mock.calls).toEqual([['--optimize-for-size']])
  utilization = 0.5
  vi.advanceTimersByTime(1)
  expect(setFlags.mock.calls.at(-1)).toEqual(['--no-optimize-for-size'])
  vi.clearAllTimers()
  vi.useRealTimers()
  await vi.waitFor(() => expect(onRelease).toHaveBeenCalledOnce(), WAIT)
})
