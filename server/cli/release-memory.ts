import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'

/** How often the load of the event loop is measured, ms. */
const INTERVAL = 1_000

/** The fraction of busy time below which the process is idle. */
const IDLE_BELOW = 0.1

/**
 * Number of idle intervals before memory is released. Code that runs with the flag takes up to
 * twice the processor time, also in the first second of the next load.
 */
const IDLE_INTERVALS = 15

/**
 * Makes V8 return unused memory to the system while the process is idle. By default, V8 keeps the
 * pages that a collection has freed, and a process with little to do collects nothing.
 */
export function releaseMemoryWhenIdle(interval = INTERVAL): void {
  let last = performance.eventLoopUtilization()
  let idleIntervals = 0
  let wasIdle = false
  setInterval(() => {
    const next = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(next, last)
    last = next
    idleIntervals = utilization < IDLE_BELOW ? idleIntervals + 1 : 0
    const isIdle = idleIntervals >= IDLE_INTERVALS
    if (isIdle === wasIdle) return
    wasIdle = isIdle
    setFlagsFromString(isIdle ? '--optimize-for-size' : '--no-optimize-for-size')
  }, interval).unref()
}
