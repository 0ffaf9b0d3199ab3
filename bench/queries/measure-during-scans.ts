import { addFigure } from '../figures.ts'
import { openLoad } from '../load/load.ts'
import { CONNECTIONS, get, showTimes, waitUntilIdle } from '../load/rounds.ts'
import { quantile, shuffled } from '../load/statistics.ts'
import { count, print, spread, verdict } from '../report.ts'
import { FIRST_PORT as PORT } from '../servers/address.ts'
import { withinBudget } from '../time-budget.ts'
import { idOf, queriesOf } from './articles.ts'
import type { Node } from './node.ts'

/** How long reads are warmed up before scans are, and measured in each slice, ms. */
const [WARM_UP, SLICE] = [2_000, 1_000]

/** Number of pairs of slices, one of them during scans. */
const PAIRS = 5

/** Matches some documents in a thousand, so that a scan ends after some thousand documents. */
const FILTER = 'id:contains=999&limit=4'

/**
 * Measures reads without scans and while two clients read the collection by scans, from page to
 * page.
 */
export async function measureDuringScans(
  { host, token, call, server }: Node,
  size: number,
): Promise<void> {
  const requests = queriesOf(
    (at) => get(host, PORT, `/_db/library/articles/${idOf(at)}`, token),
    size,
  )
  const load = await openLoad({ host, port: PORT }, requests, CONNECTIONS, true)
  let scanned = 0
  const scan = async (signal: AbortSignal) => {
    for (let position = 0; ; ) {
      const path = `/_db/library/articles?${FILTER}&after=${idOf(position)}`
      const response = await call('GET', path, undefined, signal).catch((error) => {
        if (!signal.aborted) throw error
      })
      if (response === undefined) return
      const after = /after=article-([0-9]+)/.exec(String(response.headers.link))?.[1]
      const reached = after === undefined ? size : Number(after)
      scanned += reached - position
      position = after === undefined ? 0 : reached
    }
  }
  const run = async (scans: number) => {
    const stop = new AbortController()
    const scanning = Promise.all(Array.from({ length: scans }, () => scan(stop.signal)))
    const { answers, time, times } = await load.run(SLICE)
    stop.abort()
    await scanning
    await waitUntilIdle(server)
    return { rate: answers / time, times }
  }
  await load.run(WARM_UP)
  await run(2)
  scanned = 0
  const ratios: number[] = []
  const times: number[] = []
  for (const _pair of withinBudget(PAIRS, 0.5)) {
    const rates = [0, 0]
    for (const isScanned of shuffled(2)) {
      const slice = await run(isScanned * 2)
      rates[isScanned] = slice.rate
      if (isScanned === 1) times.push(...slice.times)
    }
    const [alone = 0, during = 0] = rates
    ratios.push(during / alone)
  }
  load.close()
  const value = spread(ratios, (ratio) => ratio.toFixed(2))
  const isMet = quantile(ratios) >= 0.7
  const what = 'reads during 2 scans : without scans'
  addFigure({ what, value, target: 'at least 0.7', isMet })
  print(`  ${what.padEnd(38)} ${value.padEnd(26)} wanted: at least 0.7 – ${verdict(isMet)}`)
  const seconds = (ratios.length * SLICE) / 1_000
  const whatScanned = `documents that the 2 scans read in ${seconds} s, of ${count(size)}`
  addFigure({ what: whatScanned, value: count(scanned) })
  print(`  ${whatScanned} ${count(scanned)}`)
  showTimes('reads during 2 scans, ms, median (p99)', times, 20)
}
