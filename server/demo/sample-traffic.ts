import { DURATION_BOUNDS } from '../endpoints/traffic.ts'
import { openStore } from '../storage/open.ts'

const DAY = 24 * 60

/** Number of rows per statement. */
const PART = 400

/**
 * Stores a day of traffic in a SQLite store, as if the node had run for so long: quiet at night, busy at noon,
 * with a minute of failures.
 *
 * @param endpoints canonical addresses, the busiest first.
 */
export async function storeSampleTraffic(
  data: string,
  endpoints: readonly string[],
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
      const open = endpoints.length - (minute % 331 < 9 ? 1 : 0)
      return [{ endpoint: '', minute, node: 'demo', counts: JSON.stringify(total), open }, ...each]
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
  const ripple = 1 + Math.sin(minute / 7 + rank) / 6 + Math.sin(minute * 1.7 + rank) / 12
  const requests = Math.round(((1_000 + 5_000 * daytime) * ripple) / (rank + 1))
  const isBad = minute % 377 < 4
  const rejected = Math.round(requests * (0.03 + Math.sin(minute / 50) / 60))
  const failed = isBad ? Math.round(requests / 25) : 0
  const shares = [0.05, 0.25, 0.4, 0.18, 0.06, 0.03, 0.02, isBad ? 0.08 : 0.01]
  const durations = DURATION_BOUNDS.map((_, at) => Math.round(requests * (shares[at] ?? 0)))
  return [requests, rejected, failed, ...durations, 0]
}
