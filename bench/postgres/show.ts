import { addFigure } from '../figures.ts'
import { quantile } from '../load/statistics.ts'
import { count, print, spread, verdict } from '../report.ts'
import { saturatingNodes } from '../simulation/shared-database.ts'
import { boundOf, type Kind, LOADS, nameOf, RATIOS } from './loads.ts'
import type { Slice } from './measure.ts'

/** Limit of the 99th percentile of inserts, ms. */
const INSERT_P99 = 30

type Slices = ReadonlyMap<Kind, readonly Slice[]>

/**
 * Prints the rates and costs of all loads, and their ratios.
 *
 * @param roundTrip between the remote node and PostgreSQL, ms.
 */
export function show(slices: Slices, roundTrip: number): void {
  print()
  print(`round trip to PostgreSQL through the proxy: at least ${roundTrip.toFixed(1)} ms`)
  showRates(slices, roundTrip)
  showRatios(slices, roundTrip)
  showSimulation(slices)
}

function showRates(slices: Slices, roundTrip: number): void {
  print()
  print('| | connections | per second | at most | server, µs | PostgreSQL, µs | p99, ms |')
  print('|---|---:|---:|---:|---:|---:|---:|')
  for (const [kind, each] of slices) {
    const { name, connections } = LOADS[kind]
    const bound = boundOf(kind, roundTrip)
    const times = each.flatMap((slice) => slice.times)
    const cells = [
      name,
      connections,
      spread(each.map(rateOf), count),
      bound === undefined ? '' : count(bound),
      costOf(each, 'cost').toFixed(1),
      costOf(each, 'databaseCost').toFixed(1),
      times.length === 0 ? '' : quantile(times, 0.99).toFixed(1),
    ]
    print(`| ${cells.join(' | ')} |`)
  }
  if (!slices.has('insert')) return
  const p99Of = (kind: Kind) =>
    quantile(
      (slices.get(kind) ?? []).flatMap(({ times }) => times),
      0.99,
    )
  const p99 = p99Of('insert')
  addFigure({
    what: 'insert, p99, ms',
    value: p99.toFixed(1),
    target: `under ${INSERT_P99}`,
    isMet: p99 < INSERT_P99,
    peers: slices.has('bare') ? { 'node:http': p99Of('bare').toFixed(1) } : undefined,
  })
}

function showRatios(slices: Slices, roundTrip: number): void {
  print()
  print('| in the same round | ratio | at most | target |')
  print('|---|---:|---:|---|')
  for (const [kind, to, target] of RATIOS) {
    const each = slices.get(kind)
    if (each === undefined || !slices.has(to)) continue
    const ratios = ratiosOf(each, slices.get(to))
    const what = `${nameOf(kind)} : ${nameOf(to)}`
    const value = spread(ratios, (ratio) => ratio.toFixed(3))
    const bound = boundOf(kind, roundTrip)
    const limit = bound && quantile((slices.get(to) ?? []).map(({ rate }) => bound / rate))
    const limitText = limit?.toFixed(3) ?? ''
    // A target of 0.5 is half of the rate that is possible, which the round trips may limit.
    const reachable = Number((target * Math.min(1, limit ?? 1)).toFixed(3))
    const isMet = quantile(ratios) >= reachable
    print(`| ${what} | ${value} | ${limitText} | ${reachable}: ${verdict(isMet)} |`)
    addFigure({
      what: `${what}${limitText && ` (limit of the round trips: ${limitText})`}`,
      value,
      peers: to === 'bare' ? { 'node:http': '1.000' } : undefined,
      target: `at least ${reachable}`,
      isMet,
    })
  }
  for (const [kind, each] of slices) {
    const bound = boundOf(kind, roundTrip)
    if (bound === undefined) continue
    const what = `${nameOf(kind)} : bound of its round trips`
    const shares = each.map(({ rate }) => rate / bound)
    const value = spread(shares, (share) => share.toFixed(3))
    print(`| ${what} | ${value} | 1.000 | |`)
  }
}

/**
 * Predicts the rate of several nodes from these CPU times, and prints the command of the
 * whole prediction.
 */
function showSimulation(slices: Slices): void {
  const command = ['npm run bench:simulation --']
  for (const [kind, what] of [
    ['read', 'reads by id'],
    ['insert', 'inserts'],
  ] as const) {
    const each = slices.get(kind)
    if (each === undefined) return
    const demand = { node: costOf(each, 'cost'), database: costOf(each, 'databaseCost') }
    const times = [demand.node, demand.database].map((time) => time.toFixed(1))
    command.push(`--${kind} ${times.join()}`)
    addFigure({
      what: `simulation: nodes that saturate one core of PostgreSQL, ${what}`,
      value: `${saturatingNodes(demand).toFixed(1)} (${times.join(' : ')} µs)`,
    })
  }
  print()
  print(command.join(' '))
}

const rateOf = ({ rate }: Slice) => rate
const ratiosOf = (each: readonly Slice[], to: readonly Slice[] = []) =>
  each.map(({ rate }, round) => rate / (to[round]?.rate ?? Number.NaN))

/**
 * Returns the CPU time per response, µs, of all rounds together: that of one round is coarse.
 */
const costOf = (each: readonly Slice[], cost: 'cost' | 'databaseCost') =>
  each.reduce((sum, slice) => sum + slice[cost], 0) /
  each.reduce((sum, { answers }) => sum + answers, 0)
