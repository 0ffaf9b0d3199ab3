import { addFigure } from '../figures.ts'
import { openLoad } from '../load/load.ts'
import { CONNECTIONS, get, showTimes } from '../load/rounds.ts'
import { print, verdict } from '../report.ts'
import { FIRST_PORT as PORT } from '../servers/address.ts'
import { idOf, queriesOf } from './articles.ts'
import type { Node } from './node.ts'

/** How long reads are measured during scans and without them, ms. */
const READING = 5_000

/** Measures reads without scans and during two scans that are repeated. */
export async function measureDuringScans({ host, token, call }: Node, size: number): Promise<void> {
  const requests = queriesOf(
    (at) => get(host, PORT, `/_db/library/articles/${idOf(at)}`, token),
    size,
  )
  const load = await openLoad({ host, port: PORT }, requests, CONNECTIONS, true)
  const run = async () => {
    const { answers, time, times } = await load.run(READING)
    return { rate: (answers / time) * 1_000, times }
  }
  await run()
  const alone = await run()
  let isDone = false
  let scans = 0
  const scan = async () => {
    for (; !isDone; scans++) {
      await call('GET', '/_db/library/articles?title:contains=nothing&limit=1').catch(() => {})
    }
  }
  const scanning = Promise.all([scan(), scan()])
  const during = await run()
  isDone = true
  await scanning
  load.close()
  const ratio = during.rate / alone.rate
  const what = 'reads during 2 scans : without scans'
  addFigure({ what, value: ratio.toFixed(2), target: 'at least 0.7', isMet: ratio >= 0.7 })
  print(
    `  ${what.padEnd(38)} ${ratio.toFixed(2).padEnd(26)} ` +
      `wanted: at least 0.7 – ${verdict(ratio >= 0.7)} (${scans} scans ended)`,
  )
  showTimes('reads during 2 scans, ms, median (p99)', during.times, 20)
}
