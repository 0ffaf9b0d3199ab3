import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { addFigure } from './figures.ts'
import { print, printEnd, printMachine, verdict } from './report.ts'
import type { Attack } from './stalls/attack.ts'
import { measure, type Row } from './stalls/measure.ts'

// Measures health checks on one endpoint while requests to another endpoint attack the node.
// docs/benchmarks.md explains the measurements.
//
//   npm run bench:stalls                  every attack
//   npm run bench:stalls -- number merge  the attacks whose file names contain one of these words
//   npm run bench:stalls -- --short       the attacks that take a few seconds

/** Maximum time of a health check during an attack, ms. */
const MAX_HEALTH_TIME = 100

const ms = (time: number) => time.toFixed(1).padStart(8)

const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false } },
})

async function loadAttacks(): Promise<Attack[]> {
  const folder = join(import.meta.dirname, 'stalls', 'attacks')
  const files = readdirSync(folder).filter(
    (file) => words.length === 0 || words.some((word) => file.includes(word)),
  )
  const modules = await Promise.all(files.sort().map((file) => import(join(folder, file))))
  const attacks: Attack[] = modules.map(({ attack }) => attack)
  return options.short ? attacks.filter(({ isLong }) => isLong !== true) : attacks
}

function showRow({ name, times, failed, answers, duration, ended }: Row): void {
  const worst = times[2] ?? Number.NaN
  const isMet = ended && failed === 0 && worst < MAX_HEALTH_TIME
  addFigure({
    what: name,
    value: worst.toFixed(1),
    target: `under ${MAX_HEALTH_TIME}`,
    isMet,
  })
  const notes = [
    ...[...answers].map(([status, count]) => `${count} × ${status}`),
    ...(failed === 0 ? [] : [`${failed} health requests failed`]),
    ...(ended ? [] : ['stopped']),
  ]
  print(
    `${name.padEnd(46)} ${times.map(ms).join('')} ${(duration / 1000).toFixed(1).padStart(7)} s  ` +
      `${verdict(isMet).padEnd(8)} ${notes.join(', ')}`,
  )
}

printMachine()
print()
print(
  `${'health, ms'.padEnd(46)}      p50     p99     max    attack  wanted: max < ${MAX_HEALTH_TIME} ms`,
)
const nothing: Attack = {
  name: 'no attack',
  prepare: async () => () => new Promise((resolve) => setTimeout(resolve, 3_000)),
}
const attacks = [nothing, ...(await loadAttacks())]
for (const attack of attacks) showRow(await measure(attack))
print()
printEnd()
process.exit()
