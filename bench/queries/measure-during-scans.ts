import { addFigure } from '../figures.ts'
import { openLoad } from '../load/load.ts'
import { CONNECTIONS, get, showTimes } from '../load/rounds.ts'
import { count, print, verdict } from '../report.ts'
import { FIRST_PORT as PORT } from '../servers/address.ts'
import { idOf, queriesOf } from './articles.ts'
import type { Node } from './node.ts'

/** How long reads are measured during scans and without them, and warmed up before, ms. */
const [READING, WARM_UP] = [5_000, 2_000]

/** Matches some documents in a thousand, so that a scan ends after some thousand documents. */
const FILTER = 'id:contains=999&limit=4'

/**
 * Measures reads without scans and while two clients read the collection by scans, from page to
 * page.
 */
export async function measureDuringScans({ host, token, call }: Node, size: number): Promise<void> {
  const requests = queriesOf(
    (at) => get(host, PORT, `/_db/library/articles/${idOf(at)}`, token),
    size,
  )
  const load = await openLoad({ host, port: PORT }, requests, CONNECTIONS, true)
  const run = async (duration = READING) => {
    const { answers, time, times } = await load.run(duration)
    return { rate: (answers / time) * 1_000, times }
  }
  await run(WARM_UP)
  const alone = await run()
  const stop = new AbortController()
  let scanned = 0
  const scan = async () => {
    for (let position = 0; ; ) {
      const path = `/_db/library/articles?${FILTER}&after=${idOf(position)}`
      const response = await call('GET', path, undefined, stop.signal).catch((error) => {
        if (!stop.signal.aborted) throw error
      })
      if (response === undefined) return
      const after = /after=article-([0-9]+)/.exec(String(response.headers.link))?.[1]
      const reached = after === undefined ? size : Number(after)
      scanned += reached - position
      position = after === undefined ? 0 : reached
    }
  }
  const scanning = Promise.all([scan(), scan()])
  const during = await run()
  stop.abort()
  await scanning
  load.close()
  const ratio = during.rate / alone.rate
  const what = 'reads during 2 scans : without scans'
  addFigure({ what, value: ratio.toFixed(2), target: 'at least 0.7', isMet: ratio >= 0.7 })
  print(
    `  ${what.padEnd(38)} ${ratio.toFixed(2).padEnd(26)} ` +
      `wanted: at least 0.7 – ${verdict(ratio >= 0.7)}`,
  )
  const whatScanned = `documents that the 2 scans read in ${READING / 1_000} s, of ${count(size)}`
  addFigure({ what: whatScanned, value: count(scanned) })
  print(`  ${whatScanned} ${count(scanned)}`)
  showTimes('reads during 2 scans, ms, median (p99)', during.times, 20)
}
