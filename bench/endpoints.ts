import { execFileSync } from 'node:child_process'
import { fsyncSync, openSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { measurePolicies } from './endpoints/measure-policies.ts'
import { addFigure } from './figures.ts'
import { showSlices } from './load/rounds.ts'
import { quantile, shuffled } from './load/statistics.ts'
import { startCaddy } from './peers/caddy.ts'
import { count, limitDuration, print, printEnd, printMachine, spread, verdict } from './report.ts'
import { isClosed, respondsOk, waitUntil } from './servers/address.ts'
import { makeFolder } from './servers/folder.ts'
import { startGatehouse, storeEndpoints } from './servers/gatehouse.ts'
import type { Subject } from './servers/process.ts'
import type { Attack } from './stalls/attack.ts'
import { attack as refusedConnections } from './stalls/attacks/refused-connections.ts'
import { measure as measureAttack } from './stalls/measure.ts'
import { withinBudget } from './time-budget.ts'

// Measures how long it takes to add and remove endpoints, one at a time and in bulk, for
// Gatehouse and Caddy in one run; with --against, what their policies cost instead.
// docs/benchmarks.md explains the measurements.
//
//   npm run bench:endpoints
//   npm run bench:endpoints -- --against ../before    # compared with the version in this folder

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '30' },
    against: { type: 'string' },
    starts: { type: 'string', default: '8' },
  },
})
const SIZES = [1, 100, 1_000, 5_000]
/** The largest size with a Caddy; its changes take half a second with 5,000 listeners. */
const MAX_CADDY = 1_000
const ROUNDS = Number(options.rounds)
const WARM_UP = 5
/** The port that is added and removed, above the ports of the largest subject. */
const CHANGED_PORT = 18_000
/** Number of endpoints in a bulk change, and number of endpoints added by single requests. */
const BULK = 10_000
const SINGLE = 300
/** How long health is measured without connections, ms. */
const IDLE_TIME = 20_000
/** Rounds after each start, duration of a slice and of a warm-up, ms, with `--against`. */
const POLICY_ROUNDS = { rounds: 30, slice: 250, warmUp: 5_000 }
/** Maximum duration of the run, ms. */
const MAX_DURATION = 20 * 60_000

const ms = (number: number) => number.toFixed(number < 100 ? 1 : 0)
const msSpread = (times: readonly number[]) => spread(times, ms)

function printVerdict(what: string, value: string, wanted: string, met: boolean): void {
  addFigure({ what, value, target: wanted, isMet: met })
  print(`  ${what.padEnd(42)} ${value.padStart(9)}   wanted: ${wanted} – ${verdict(met)}`)
}

/** Returns the version of the installed `caddy`, or `undefined`. */
function caddyVersion(): string | undefined {
  try {
    return execFileSync('caddy', ['version'], { encoding: 'utf8' }).split(' ')[0]?.trim()
  } catch {
    return undefined
  }
}

/** Returns a function that writes and syncs 4 KiB and returns the time this took, ms. */
function createDiskProbe(): () => number {
  const file = openSync(join(makeFolder('disk'), 'probe'), 'w')
  const page = Buffer.alloc(4096, 1)
  return () => {
    const begun = performance.now()
    writeSync(file, page)
    fsyncSync(file)
    return performance.now() - begun
  }
}

interface Times {
  readonly add: number[]
  readonly remove: number[]
}

async function changeOnce({ host, path, add, remove }: Subject, port: number, times: Times) {
  let begun = performance.now()
  await add(port)
  await waitUntil(() => respondsOk(host, port, path))
  times.add.push(performance.now() - begun)
  await pause(20)
  begun = performance.now()
  await remove(port)
  await waitUntil(() => isClosed(host, port))
  times.remove.push(performance.now() - begun)
}

async function measureChanges(withCaddy: boolean): Promise<void> {
  const subjects: Subject[] = []
  for (const size of SIZES) {
    subjects.push(await startGatehouse(size, await storeEndpoints(size)))
    if (withCaddy && size <= MAX_CADDY) subjects.push(await startCaddy(size))
  }
  const times = new Map(
    subjects.map((subject): [Subject, Times] => [subject, { add: [], remove: [] }]),
  )
  const probeDisk = createDiskProbe()
  const disk: number[] = []
  const changeEach = async (round: number, timesOf: (subject: Subject) => Times | undefined) => {
    for (const at of shuffled(subjects.length)) {
      const subject = subjects[at] as Subject
      const into = timesOf(subject) ?? { add: [], remove: [] }
      await changeOnce(subject, CHANGED_PORT + (round % 10), into)
      // Work that continues after the response must not count towards the next change.
      await pause(subject.name === 'Caddy' ? 20 + subject.size / 10 : 20)
    }
  }
  for (let round = 0; round < WARM_UP; round++) await changeEach(round, () => undefined)
  for (const round of withinBudget(ROUNDS, 0.6)) {
    disk.push(probeDisk())
    await changeEach(WARM_UP + round, (subject) => times.get(subject))
  }
  for (const subject of subjects) await subject.stop()
  print(`Disk: 4 KiB written and synced between the rounds, ${msSpread(disk)} ms`)
  addFigure({ what: '4 KiB written and synced, ms', value: msSpread(disk) })
  print()

  const of = (name: Subject['name'], size: number) =>
    subjects.flatMap((subject) =>
      subject.name === name && subject.size === size ? [times.get(subject) as Times] : [],
    )[0]
  const tables = [
    ['add', 'Add: from the request until the new port responds with 200'],
    [
      'remove',
      'Remove: from the request until the response arrived and the port refuses connections',
    ],
  ] as const
  for (const [change, title] of tables) {
    const median = (name: Subject['name'], size: number) => quantile(of(name, size)?.[change] ?? [])
    print(`${title}; ms, median (quartiles) of ${disk.length}`)
    print(
      `  ${'present'.padStart(7)}   ${'Gatehouse'.padEnd(20)} ${'Caddy'.padEnd(20)} Caddy : Gatehouse`,
    )
    for (const size of SIZES) {
      const caddy = of('Caddy', size)
      const ratio = median('Caddy', size) / median('Gatehouse', size)
      print(
        `  ${count(size).padStart(7)}   ${msSpread(of('Gatehouse', size)?.[change] ?? []).padEnd(20)} ` +
          (caddy === undefined ? '-' : `${msSpread(caddy[change]).padEnd(20)} ${ratio.toFixed(1)}`),
      )
    }
    const flat = median('Gatehouse', 5_000) / median('Gatehouse', 1)
    printVerdict(
      `${change} an endpoint, 5,000 present : 1`,
      flat.toFixed(2),
      'at most 1.5',
      flat <= 1.5,
    )
    addFigure({
      what: `${change} an endpoint, 1,000 present, ms`,
      value: ms(median('Gatehouse', 1_000)),
      peers: { Caddy: withCaddy ? ms(median('Caddy', 1_000)) : 'absent' },
    })
    if (withCaddy) {
      const faster = median('Caddy', 1_000) / median('Gatehouse', 1_000)
      printVerdict(
        `${change} an endpoint, 1,000 present, Caddy : Gatehouse`,
        faster.toFixed(1),
        'at least 10',
        faster >= 10,
      )
    }
    print()
  }
}

/** Changes 10,000 endpoints in one request each, and some with single requests, on one node. */
async function measureBulk(): Promise<void> {
  const node = await startGatehouse(1, await storeEndpoints(1))
  const ports = Array.from({ length: BULK }, (_, at) => CHANGED_PORT + at)
  const endpointOf = (port: number) => `tcp://${node.host}:${port}`
  const health: number[] = []
  const bulk = async (changes: readonly unknown[]): Promise<number> => {
    const begun = performance.now()
    let duration: number | undefined
    const changing = node.administer('POST', '/_api/endpoint-change', { changes }).finally(() => {
      duration = performance.now() - begun
    })
    while (duration === undefined) {
      const sent = performance.now()
      await node.administer('GET', '/_api/health')
      health.push(performance.now() - sent)
      await pause(10)
    }
    const { json } = await changing
    const made = json.filter(({ state }: { state: string }) => state === 'made').length
    if (made !== changes.length) throw new Error(`${made} of ${changes.length} changes were made`)
    return (changes.length / duration) * 1_000
  }
  const begun = performance.now()
  for (const port of ports.slice(0, SINGLE)) await node.add(port)
  const single = (SINGLE / (performance.now() - begun)) * 1_000
  for (const port of ports.slice(0, SINGLE)) await node.remove(port)
  const rates = {
    added: await bulk(ports.map((port) => ({ endpoint: endpointOf(port), databases: ['a'] }))),
    mapped: await bulk(ports.map((port) => ({ endpoint: endpointOf(port), databases: ['b'] }))),
    removed: await bulk(ports.map((port) => ({ endpoint: endpointOf(port), remove: true }))),
  }
  await node.stop()
  print(`Bulk changes: ${count(BULK)} endpoints in one request; endpoints a second`)
  print(`  added by single requests, one after the other  ${single.toFixed(0)}`)
  for (const [what, rate] of Object.entries(rates)) {
    printVerdict(`${what} in bulk, endpoints/s`, rate.toFixed(0), 'at least 200', rate >= 200)
  }
  print(`  added in bulk : by single requests  ${(rates.added / single).toFixed(1)}`)
  const worst = Math.max(...health)
  printVerdict(
    'slowest health check during bulk changes, ms',
    worst.toFixed(0),
    'under 100',
    worst < 100,
  )
  print()
}

/** Compares reads through endpoints with policies with those of another version. */
async function comparePolicies(before: string): Promise<void> {
  const { ratiosOf, slices } = await measurePolicies(before, {
    ...POLICY_ROUNDS,
    starts: Number(options.starts),
  })
  showSlices('Read by id', slices, {
    before: 'the version before',
    plain: 'no policy',
    rules: 'every rule set',
    log: 'access log',
  })
  for (const [kind, what, max] of [
    ['plain', 'no policy', 1.03],
    ['rules', 'every rule set', 1.12],
    ['log', 'access log', 1.2],
  ] as const) {
    const each = ratiosOf(kind)
    const value = spread(each, (ratio) => ratio.toFixed(3))
    const met = quantile(each) <= max
    printVerdict(`CPU time of a read, ${what} : before`, value, `at most ${max}`, met)
  }
  print()
}

/** Measures health while connections to another endpoint are refused, and without them. */
async function measureRefusals(): Promise<void> {
  const wait: Attack = { name: 'no connections', prepare: async () => () => pause(IDLE_TIME) }
  for (const attack of [wait, refusedConnections]) {
    const { name, times, failed, answers, duration, ended } = await measureAttack(attack)
    const worst = times[2] ?? Number.NaN
    const met = ended && failed === 0 && worst < 100
    printVerdict(`slowest health check, ms: ${name}`, ms(worst), 'under 100', met)
    const ends = [...answers].map(([end, number]) => `${count(number)} × ${end}`)
    print(`    in ${ms(duration / 1_000)} s ${ends.join(', ')}`)
  }
  print()
}

limitDuration(MAX_DURATION)

printMachine()
if (options.against === undefined) {
  const caddy = caddyVersion()
  print(
    caddy === undefined
      ? 'Caddy is not installed (apt-get install caddy) and is not measured.'
      : `Caddy ${caddy}`,
  )
  print()
  await measureChanges(caddy !== undefined)
  await measureBulk()
} else {
  print()
  await comparePolicies(resolve(options.against))
  await measureRefusals()
}
printEnd()
