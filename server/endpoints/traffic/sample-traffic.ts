import { SAMPLE_SECONDS } from '../../contract/endpoints/traffic.ts'

/** Delay after the end of a traffic sample, ms: timers may fire slightly early. */
const SAMPLE_AFTER = 20

/**
 * Calls `sample` at every multiple of the period, so that all nodes sample at the same moments.
 * Returns a function that stops it.
 */
export function sampleTraffic(sample: (now: number) => void): () => void {
  const period = SAMPLE_SECONDS * 1_000
  let timer: NodeJS.Timeout
  const wait = () => {
    timer = setTimeout(
      () => {
        sample(Date.now())
        wait()
      },
      period - (Date.now() % period) + SAMPLE_AFTER,
    )
  }
  wait()
  return () => clearTimeout(timer)
}
