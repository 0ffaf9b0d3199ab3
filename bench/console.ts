import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from '@playwright/test'
import { findChromium } from '../.ci/machine/chromium.ts'
import { CHROMIUM_ARGS } from '../e2e/support/chromium.ts'
import {
  beforeChange,
  changePaintedAt,
  createHeapProbe,
  recordFirstRows,
} from './console/console-probe.ts'
import { type Inputs, measureKeystrokes, measureSorts } from './console/measure-inputs.ts'
import { addFigure } from './figures.ts'
import { quantile } from './load/statistics.ts'
import { count, limitDuration, print, printEnd, printMachine, verdict } from './report.ts'
import { FIRST_PORT } from './servers/address.ts'
import { startGatehouse, storeEndpoints } from './servers/gatehouse.ts'
import type { Subject } from './servers/process.ts'
import { withinBudget } from './time-budget.ts'

// Measures the built console in a browser with ten thousand listening endpoints. docs/benchmarks.md
// explains the measurements.

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
/** How long live events arrive while the heap is measured, minutes; 0 skips this part. */
const MINUTES = Number(values.minutes)
if (!Number.isInteger(MINUTES) || MINUTES < 0 || MINUTES === 1) {
  process.stderr.write('--minutes takes a whole number: 0, or at least 2.\n')
  process.exit(1)
}
const SIGN_INS = 5
const CHANGES = 10
/** Period of added and removed endpoints while the heap is measured, ms. */
const CHANGE_PERIOD = 1_000
/** Maximum duration of the run, ms. */
const MAX_DURATION = (5 + 2 * MINUTES) * 60_000
const BUILT = fileURLToPath(new URL('../dist/console/', import.meta.url))

function printVerdict(what: string, value: string, wanted: string, met: boolean, more = ''): void {
  addFigure({ what, value, target: wanted, isMet: met })
  print(`  ${what.padEnd(40)} ${value.padStart(18)}   wanted: ${wanted} – ${verdict(met)}${more}`)
}

function printInputs(what: string, { painted, processor }: Inputs, max: number): void {
  printTimes(what, painted, max)
  const text = `${quantile(processor).toFixed(0)} (to ${Math.max(...processor).toFixed(0)}) ms`
  print(`  ${'  of that, CPU time of the page'.padEnd(40)} ${text.padStart(18)}`)
}

/**
 * Prints times. The median is judged; the maximum and the number within the limit are printed too.
 */
function printTimes(what: string, all: readonly number[], max: number): void {
  const median = quantile(all)
  const within = all.filter((one) => one <= max).length
  const text = `${median.toFixed(0)} (to ${Math.max(...all).toFixed(0)}) ms`
  printVerdict(
    what,
    text,
    `at most ${count(max)} ms`,
    median <= max,
    `, ${within} of ${all.length}`,
  )
}

/** Returns how many endpoints a node can have here: each uses a file descriptor. */
function maxEndpoints(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8')
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1]
  return hard === 'unlimited' || Number(hard) > 11_000 ? 10_000 : 5_000
}

/**
 * Records the scripts that a page loads. Returns a function that sums their gzip sizes so far, kB.
 */
function watchScriptSize(page: Page): () => Promise<number> {
  const loaded = new Map<string, Promise<number>>()
  page.on('response', (response) => {
    const url = response.url()
    if (!url.endsWith('.js') || response.status() !== 200) return
    loaded.set(
      url,
      response.body().then((body) => gzipSync(body).length),
    )
  })
  return async () => {
    const sizes = await Promise.all(loaded.values())
    return sizes.reduce((sum, size) => sum + size, 0) / 1000
  }
}

/** Signs in with a new browser context, whose cache is empty. */
async function signIn(browser: Browser, { origin, key }: { origin: string; key: string }) {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
  })
  const page = await context.newPage()
  const before = watchScriptSize(page)
  await page.goto('/_console/sign-in?returnTo=%2F_console%2Fendpoints')
  await page.getByLabel('Operator key').fill(key)
  const signInPage = await before()
  await recordFirstRows(page)
  const after = watchScriptSize(page)
  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await page.waitForURL('**/_console/endpoints')
  const firstRows = await page.evaluate(() => window.firstRows as Promise<number>)
  return { context, page, signInPage, firstRows, firstView: await after() }
}

/** Adds and removes an endpoint with the API, and measures when a console shows it. */
async function measureChanges(page: Page, node: Subject): Promise<number[]> {
  const all: number[] = []
  for (const round of withinBudget(CHANGES)) {
    const port = FIRST_PORT + node.size + round
    for (const [change, endpoints] of [
      ['add', node.size + 1],
      ['remove', node.size],
    ] as const) {
      await beforeChange(page, endpoints)
      const begun = Date.now()
      await node[change](port)
      all.push((await changePaintedAt(page)) - begun)
    }
    // The removed endpoint must finish draining before the next change.
    await pause(1_500)
  }
  return all
}

/**
 * Measures the heap during live events: endpoints are added and removed, and visible ones get
 * requests.
 */
async function watchHeap(page: Page, node: Subject): Promise<void> {
  const heapOf = await createHeapProbe(page)
  const requestedPorts = Array.from({ length: 20 }, (_, at) => FIRST_PORT + at)
  const heaps: number[] = []
  let events = 0
  for (let minute = 1; minute <= MINUTES; minute++) {
    const end = performance.now() + 55_000
    while (performance.now() < end) {
      const port = FIRST_PORT + node.size + (events % 50)
      await node.add(port)
      await Promise.all(
        requestedPorts.map((one) =>
          fetch(`http://${node.host}:${one}${node.path}`).then((r) => r.text()),
        ),
      )
      await pause(CHANGE_PERIOD)
      await node.remove(port)
      await pause(CHANGE_PERIOD)
      events += 2
    }
    // Removed endpoints are drained by then, and the page has loaded the result.
    await pause(5_000)
    heaps.push((await heapOf()) / 1e6)
    print(`  minute ${`${minute}`.padStart(2)}: ${heaps.at(-1)?.toFixed(1)} MB, ${events} changes`)
  }
  const [first = Number.NaN, last = Number.NaN] = [heaps[0], heaps.at(-1)]
  const ratio = last / first
  printVerdict(`heap, minute ${MINUTES} : minute 1`, ratio.toFixed(2), 'at most 1.1', ratio <= 1.1)
}

limitDuration(MAX_DURATION)

if (!existsSync(`${BUILT}index.html`)) {
  process.stderr.write('The console is not built: npm run build.\n')
  process.exit(1)
}
const size = maxEndpoints()
const executablePath = await findChromium()
if (executablePath === undefined) {
  process.stderr.write('There is no Chromium. Set GATEHOUSE_CHROMIUM to its path.\n')
  process.exit(1)
}
const browser = await chromium.launch({ args: CHROMIUM_ARGS, executablePath })
printMachine(`Chromium ${browser.version()}, `)
// Seven different mappings, to have something to sort. The first endpoint serves the console.
const stored = await storeEndpoints(size, (port) =>
  port === FIRST_PORT ? [] : ['shop', 'blog', `of-${'abcdefg'[port % 7]}`],
)
const node = await startGatehouse(size, stored)
const origin = `http://${node.host}:${FIRST_PORT}`
const key = readFileSync(join(stored.data, 'operator.key'), 'utf8').trim()
const addresses = Array.from({ length: size }, (_, at) => `tcp://${node.host}:${FIRST_PORT + at}`)
print(`${count(size)} endpoints listen`)
print()

const firstRows: number[] = []
for (let run = 1; run < SIGN_INS; run++) {
  const { context, firstRows: time } = await signIn(browser, { origin, key })
  firstRows.push(time)
  await context.close()
}
const { page, ...loaded } = await signIn(browser, { origin, key })
firstRows.push(loaded.firstRows)
const kB = (number: number) => `${number.toFixed(1)} kB`
printVerdict(
  'sign-in page, scripts, gzip',
  kB(loaded.signInPage),
  'at most 110 kB',
  loaded.signInPage <= 110,
)
printVerdict(
  'Endpoints, scripts, gzip',
  kB(loaded.firstView),
  'at most 200 kB',
  loaded.firstView <= 200,
)
printTimes('first rows after sign-in', firstRows, 1_000)
const elements = await page.evaluate(() => document.querySelectorAll('*').length)
printVerdict('elements in the page', count(elements), 'at most 3,000', elements <= 3_000)
await pause(2_000)
printInputs('a keystroke in the filter', await measureKeystrokes(page, addresses), 50)
printInputs('a sort', await measureSorts(page), 100)
printTimes('a change shown in an open console', await measureChanges(page, node), 1_000)
print()
if (MINUTES > 0) {
  print('Heap of the page after collecting garbage, while endpoints come and go')
  await watchHeap(page, node)
  print()
}
await browser.close()
await node.stop()
printEnd()
