import { setMaxIdleHTTPParsers } from 'node:http'
import { performance } from 'node:perf_hooks'
import v8 from 'node:v8'

/** How often the load of the event loop is measured, ms. */
const INTERVAL = 1_000

/** The fraction of busy time below which the process is idle. */
const IDLE_BELOW = 0.1

/**
 * Number of idle intervals before memory is released. Code that runs with the flag takes up to
 * twice the CPU time, also in the first second of the next load.
 */
const IDLE_INTERVALS = 15

/**
 * Maximum number of parsers that Node.js keeps for new connections. Each takes 10 KB; the default is
 * 1,000.
 */
const IDLE_PARSERS = 100

/**
 * Returns unused memory to the system while the process is idle. By default, V8 and the C library
 * keep it for reuse, and a process with little to do collects nothing.
 *
 * @param onRelease called after each release, every 15 seconds while the process is idle.
 */
export function releaseMemoryWhenIdle(onRelease = () => {}, interval = INTERVAL): void {
  setMaxIdleHTTPParsers(IDLE_PARSERS)
  let last = performance.eventLoopUtilization()
  let idleIntervals = 0
  let wasIdle = false
  setInterval(() => {
    const next = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(next, last)
    last = next
    idleIntervals = utilization < IDLE_BELOW ? idleIntervals + 1 : 0
    const isIdle = idleIntervals >= IDLE_INTERVALS
    if (isIdle !== wasIdle) {
      v8.setFlagsFromString(isIdle ? '--optimize-for-size' : '--no-optimize-for-size')
    }
    wasIdle = isIdle
    // Native memory of objects is unused only after V8 has collected them, so this is repeated.
    if (isIdle && idleIntervals % IDLE_INTERVALS === 0) {
      // It fails while all file descriptors are in use, and is repeated.
      void releaseNativeMemory().then(onRelease, () => {})
    }
  }, interval).unref()
}

async function releaseNativeMemory(): Promise<void> {
  // Nodes on PostgreSQL do not load SQLite during their start.
  const sqlite = await import('../storage/release-native-memory.ts')
  sqlite.releaseNativeMemory()
}
