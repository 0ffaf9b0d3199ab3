import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { addFigure, type Peer } from '../figures.ts'
import { count, print, spread, verdict } from '../report.ts'
import { processorTime, type RunningServer, type Subject } from '../servers/process.ts'
import { withinBudget } from '../time-budget.ts'
import type { Load } from './load.ts'
import { quantile, shuffled } from './statistics.ts'

/** Number of connections of each load. */
export const CONNECTIONS = 64

/** A server is idle once it uses no CPU time for this time, ms. */
const IDLE_TIME = 50

/** A load, and the process that serves it. */
export interface ServerLoad {
  /** Opens new connections per slice: some servers close idle ones between slices. */
  readonly openLoad: () => Promise<Load>
  readonly server: Pick<Subject, 'process'>
  /** Minimum warm-up, ms, for code that V8 takes longer to optimize; by default none. */
  readonly minWarmUp?: number | undefined
}

/** The results of one load in one round. */
export interface Slice {
  /** Responses per second. */
  readonly rate: number
  /** CPU time of the server per response, µs. */
  readonly cost: number
  readonly times: readonly number[]
}

/** Rounds, each with a slice of every load of a group in random order; times in ms. */
export interface Rounds {
  /** The maximum number of rounds. */
  readonly rounds: number
  readonly slice: number
  /** Warm-up of each load before rounds count. */
  readonly warmUp: number
  /** Share of the rest of the time budget, see {@link withinBudget}. */
  readonly share: number
}

/** Returns a GET request as text. `headers` end with a line break each. */
export const get = (host: string, port: number, path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${headers}\r\n`

/** Returns a POST request as text. */
export const post = (host: string, port: number, path: string, json: string, headers = '') => {
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`
  return `POST ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${headers}${type}\r\n${json}`
}

/** The processes of a benchmark on separate cores. */
export interface Pinning {
  /** Pins a server to the last core. */
  readonly pin: (process: Subject['process']) => void
  /** Lets this process, and those that it starts, use all cores again. */
  readonly end: () => void
}

/**
 * Pins this process to all cores but the last one; undefined if that is not possible. Processes that
 * it starts are pinned to the same cores.
 */
export function createPinning(): Pinning | undefined {
  const last = availableParallelism() - 1
  const pin = (cores: string, pid: number | undefined) =>
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)])
  try {
    if (last === 0) return undefined
    pin(`0-${last - 1}`, process.pid)
    return {
      pin: ({ pid }) => void pin(String(last), pid),
      end: () => void pin(`0-${last}`, process.pid),
    }
  } catch {
    return undefined
  }
}

/** Measures loads in rounds, those of `group` that exist. */
export async function measure<Kind extends string>(
  all: ReadonlyMap<Kind, ServerLoad>,
  group: readonly Kind[],
  { rounds, slice: duration, warmUp, share }: Rounds,
): Promise<Map<Kind, Slice[]>> {
  const kinds = group.filter((kind) => all.has(kind))
  const slices = new Map(kinds.map((kind): [Kind, Slice[]] => [kind, []]))
  for (const kind of kinds) {
    const load = all.get(kind) as ServerLoad
    const end = performance.now() + Math.max(warmUp, load.minWarmUp ?? 0)
    // Slices, because V8 discards optimized code when the first connections close.
    while (performance.now() < end) await slice(load, duration)
  }
  for (const _ of withinBudget(rounds, share)) {
    for (const at of shuffled(kinds.length)) {
      const kind = kinds[at] as Kind
      slices.get(kind)?.push(await slice(all.get(kind) as ServerLoad, duration))
    }
  }
  return slices
}

async function slice({ openLoad, server }: ServerLoad, duration: number): Promise<Slice> {
  const load = await openLoad()
  const before = processorTime(server)
  const { answers, time, times } = await load.run(duration)
  const cost = (processorTime(server) - before) / answers
  load.close()
  await waitUntilIdle(server)
  return { rate: (answers / time) * 1000, cost, times }
}

/** Waits until a server is idle, so that the next one has the core to itself. */
export async function waitUntilIdle(server: RunningServer): Promise<void> {
  for (let before = processorTime(server); ; ) {
    await pause(IDLE_TIME)
    const now = processorTime(server)
    if (now === before) return
    before = now
  }
}

/** Prints the rate and the cost of each load. */
export function showSlices<Kind extends string>(
  title: string,
  slices: ReadonlyMap<Kind, readonly Slice[]>,
  names: Readonly<Record<Kind, string>>,
): void {
  const [first = []] = slices.values()
  const head = `${title}, ${CONNECTIONS} connections; median (quartiles) of ${first.length} rounds`
  print(`${head.padEnd(60)} per second, µs of the server's CPU time`)
  for (const [kind, each] of slices) {
    print(`  ${names[kind].padEnd(38)} ${formatSlices(each)}`)
  }
  print()
}

/** Formats the rates and the costs of slices as two columns. */
export function formatSlices(slices: readonly Pick<Slice, 'rate' | 'cost'>[]): string {
  const rates = spread(
    slices.map(({ rate }) => rate),
    count,
  )
  const costs = spread(
    slices.map(({ cost }) => cost),
    (cost) => cost.toFixed(1),
  )
  return `${rates.padEnd(26)} ${costs}`
}

/** Returns the ratio of two loads in each round. */
export const ratios = <Kind extends string>(
  slices: ReadonlyMap<Kind, readonly Slice[]>,
  kind: Kind,
  to: Kind,
  of: 'rate' | 'cost',
) =>
  (slices.get(kind) ?? []).flatMap((each, round) => {
    const other = slices.get(to)?.[round]
    return other === undefined ? [] : each[of] / other[of]
  })

const formatRatio = (ratio: number) => ratio.toFixed(3)

/** Prints the ratio of the rates of two loads, and that of their costs. Returns the former. */
export function printRate<Kind extends string>(
  what: string,
  slices: ReadonlyMap<Kind, readonly Slice[]>,
  [kind, to]: readonly [Kind, Kind],
  min?: number,
): { readonly value: string; readonly isMet: boolean | undefined } {
  const each = ratios(slices, kind, to, 'rate')
  const byCost = quantile(ratios(slices, to, kind, 'cost'))
  const isMet = min === undefined ? undefined : quantile(each) >= min
  const value = spread(each, formatRatio)
  print(
    `  ${what.padEnd(38)} ${value.padEnd(26)} ` +
      (isMet === undefined ? '' : `wanted: at least ${min} – ${verdict(isMet)} `) +
      `(by CPU time ${byCost.toFixed(3)})`,
  )
  return { value, isMet }
}

/**
 * Prints the ratio of the rates of two loads, and adds it to the table of all benchmarks.
 *
 * @param peers loads of other servers, whose ratios the table shows too.
 */
export function showRate<Kind extends string>(
  what: string,
  slices: ReadonlyMap<Kind, readonly Slice[]>,
  [kind, to]: readonly [Kind, Kind],
  min?: number,
  peers?: Readonly<Partial<Record<Peer, Kind>>>,
): void {
  addFigure({
    what,
    ...printRate(what, slices, [kind, to], min),
    peers:
      peers &&
      Object.fromEntries(
        Object.entries(peers).map(([peer, other]) => [
          peer,
          slices.has(other) ? formatRatio(quantile(ratios(slices, other, to, 'rate'))) : 'absent',
        ]),
      ),
    target: min === undefined ? undefined : `at least ${min}`,
  })
}

/** Formats the median and the 99th percentile of times. */
const formatTimes = (times: readonly number[]) =>
  `${quantile(times).toFixed(1)} (${quantile(times, 0.99).toFixed(1)})`

/**
 * Prints the median and the 99th percentile of the times of responses, ms, and adds them to the
 * table of all benchmarks.
 *
 * @param max target of the 99th percentile.
 * @param bare the times of bare `node:http` in the same rounds.
 */
export function showTimes(
  what: string,
  times: readonly number[],
  max?: number,
  bare?: readonly number[],
): void {
  const value = formatTimes(times)
  const peers = bare && { 'node:http': formatTimes(bare) }
  if (max === undefined) {
    print(`  ${what.padEnd(38)} ${value}`)
    addFigure({ what, value, peers })
    return
  }
  const isMet = quantile(times, 0.99) < max
  print(`  ${what.padEnd(38)} ${value.padEnd(26)} wanted: p99 under ${max} – ${verdict(isMet)}`)
  addFigure({ what, value, peers, target: `p99 under ${max}`, isMet })
}
