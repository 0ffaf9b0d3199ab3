import { setTimeout } from 'node:timers/promises'
import type { SampleCollection } from './sample-data.ts'

/** Number of clients that send requests to a demo. */
const CLIENTS = 32

/** Maximum pause of a client between two requests, ms. */
const LONGEST_PAUSE = 250

/** An endpoint that the clients call. */
export interface Target {
  readonly url: string
  readonly databases: readonly string[]
}

/**
 * Sends requests to the endpoints until `ended` aborts: mostly reads, some writes, and some that are
 * rejected because their credential or the policy does not permit them.
 *
 * @param tokens the token for each database.
 */
export async function runClients(
  targets: readonly Target[],
  collections: readonly SampleCollection[],
  tokens: ReadonlyMap<string, string>,
  ended: AbortSignal,
  onResponse: (status: number) => void,
): Promise<void> {
  const client = async (at: number) => {
    const random = seeded(at + 1)
    const choose = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
    while (!ended.aborted) {
      // The first endpoints are busier.
      const target = targets[Math.floor(random() ** 2 * targets.length)] as Target
      const database = choose(target.databases)
      const [path, documents] = choose(
        collections.filter(([name]) => name.startsWith(`${database}/`)),
      )
      const base = `${target.url}/_db/${path}`
      const { id } = choose(documents)
      const sends = random()
      const headers: Record<string, string> =
        sends < 0.03
          ? {}
          : { Authorization: `Bearer ${sends < 0.05 ? 'expired' : tokens.get(database)}` }
      const kind = random()
      const signal = AbortSignal.any([ended, AbortSignal.timeout(5_000)])
      const request =
        kind < 0.65
          ? fetch(`${base}/${id}`, { headers, signal })
          : kind < 0.85
            ? fetch(`${base}?limit=20`, { headers, signal })
            : fetch(`${base}/${id}`, {
                method: 'PATCH',
                headers: { ...headers, 'Content-Type': 'application/merge-patch+json' },
                body: JSON.stringify({ touched: Math.floor(random() * 1e6) }),
                signal,
              })
      // An endpoint may be closed at any time: that is what a demo is for.
      await request
        .then(async (response) => {
          await response.arrayBuffer()
          onResponse(response.status)
        })
        .catch(() => {})
      await setTimeout(random() * LONGEST_PAUSE, undefined, { signal: ended }).catch(() => {})
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)))
}

/** Returns a generator of numbers from 0 to 1, the same in each run (mulberry32, Tommy Ettinger). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
