import { DURATION_BOUNDS } from '../contract/endpoints/traffic.ts'
import { openStore } from '../storage/open.ts'

const DAY = 24 * 60

/** Number of rows per statement. */
const PART = 400

/**
 * Stores a day of traffic in a SQLite store, as if the node had run for so long: quiet at night, busy at noon,
 * with a minute of failures.
 *
 * @param endpoints canonical addresses, the busiest first.
 * @param open number of endpoints that listened.
 */
export async function storeSampleTraffic(
  data: string,
  endpoints: readonly string[],
  open: number,
): Promise<void> {
  const store = await openStore({ data }, 'tool')
  try {
    const last = Math.floor(Date.now() / 60_000) - 1
    const rows = Array.from({ length: DAY }, (_, at) => last - DAY + 1 + at).flatMap((minute) => {
      const total = new Array<number>(4 + DURATION_BOUNDS.length).fill(0)
      const each = endpoints.map((endpoint, rank) => {
        const counts = countsOf(minute, rank)
        for (const [at, count] of counts.entries()) total[at] = (total[at] ?? 0) + count
        return { endpoint, minute, node: 'demo', counts: JSON.stringify(counts), open: 0 }
      })
      const opened = open - (minute % 331 < 9 ? 1 : 0)
      return [
        { endpoint: '', minute, node: 'demo', counts: JSON.stringify(total), open: opened },
        ...each,
      ]
    })
    await store.change(async (trx) => {
      for (let at = 0; at < rows.length; at += PART) {
        const part = rows.slice(at, at + PART)
        await trx.insertInto('traffic_minutes').values(part).execute()
      }
    })
  } finally {
    await store.close()
  }
}

/** Returns what an endpoint counted in a minute, in the order of `Traffic.takeCounts`. */
function countsOf(minute: number, rank: number): number[] {
  const daytime = (1 + Math.sin(((minute % DAY) / DAY - 0.25) * 2 * Math.PI)) / 2
  const ripple = 0.8 + noise(minute + rank) / 4 + noise(Math.floor(minute / 20) + rank) / 6
  const requests = Math.round(((600 + 3_200 * daytime) * ripple) / (rank + 1))
  const isBad = minute % 377 < 4
  const rejected = Math.round(requests * (0.05 + noise(minute) / 25))
  const failed = isBad ? Math.round(requests / 25) : 0
  const slow = noise(minute * 3) / 20
  const shares = [0.05, 0.25, 0.4, 0.18 - slow, 0.06, 0.03 + slow, 0.02, isBad ? 0.08 : 0.01]
  // Some endpoints are slower than others.
  const shift = (rank * 5) % 3
  const durations = DURATION_BOUNDS.map((_, at) => Math.round(requests * (shares[at - shift] ?? 0)))
  return [requests, rejected, failed, ...durations, 0]
}

/** Returns a number from 0 to 1 that looks random, the same for the same seed. */
const noise = (seed: number): number => {
  const value = Math.sin(seed * 12.9898) * 43_758.5453
  return value - Math.floor(value)
}
