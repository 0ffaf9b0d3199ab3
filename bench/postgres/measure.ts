import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { openLoad } from '../load/load.ts'
import { shuffled } from '../load/statistics.ts'
import { withinBudget } from '../time-budget.ts'
import { type Kind, LOADS } from './loads.ts'

/** Minimum duration of the first slices of each load, which do not count, ms. */
const WARM_UP = 1_500

/** A server, and the requests that it is sent in turn. */
export interface Target {
  readonly address: { readonly host: string; readonly port: number }
  readonly requests: readonly string[]
  readonly pid: number | undefined
}

export interface Slice {
  readonly rate: number
  readonly answers: number
  /** CPU time of the server, and of PostgreSQL, µs; multiples of 10 ms. */
  readonly cost: number
  readonly databaseCost: number
  /** Times of the responses to inserts, and of bare `node:http`, ms. */
  readonly times: readonly number[]
}

/**
 * Measures each load for `slice` ms in each round, in random order.
 *
 * @param database the first process of PostgreSQL.
 */
export async function measure(
  targets: ReadonlyMap<Kind, Target>,
  database: number | undefined,
  { rounds, slice }: { readonly rounds: number; readonly slice: number },
): Promise<Map<Kind, Slice[]>> {
  const kinds = [...targets.keys()]
  const slices = new Map(kinds.map((kind): [Kind, Slice[]] => [kind, []]))
  const databaseTime = () =>
    [database, ...childrenOf(database)].reduce((sum: number, pid) => sum + timeOf(pid), 0)
  const run = async (kind: Kind, duration: number): Promise<Slice> => {
    const { address, requests, pid } = targets.get(kind) as Target
    const isTimed = kind === 'bare' || requests[0]?.startsWith('POST ') === true
    const load = await openLoad(address, requests, LOADS[kind].connections, isTimed)
    const before = [timeOf(pid), databaseTime()] as const
    const { answers, time, times } = await load.run(duration)
    const cost = timeOf(pid) - before[0]
    const databaseCost = databaseTime() - before[1]
    load.close()
    await pause(50)
    return { rate: (answers / time) * 1000, answers, cost, databaseCost, times }
  }
  for (const kind of kinds) {
    const end = performance.now() + WARM_UP
    // Slices, because V8 discards optimized code when the first connections close.
    while (performance.now() < end) await run(kind, slice)
  }
  for (const _ of withinBudget(rounds)) {
    for (const at of shuffled(kinds.length)) {
      const kind = kinds[at] as Kind
      slices.get(kind)?.push(await run(kind, slice))
    }
  }
  return slices
}

/** Returns the CPU time of a process, µs, including its children that have exited. */
function timeOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 10_000
}

const childrenOf = (pid: number | undefined): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
