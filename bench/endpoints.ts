import { execFileSync } from 'node:child_process'
import { fsyncSync, openSync, writeSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  answers,
  makeFolder,
  memoryOf,
  portsOf,
  quantile,
  refuses,
  type Subject,
  shuffled,
  startCaddy,
  startGatehouse,
  storeEndpoints,
  until,
} from './support.ts'

// How long it takes to add, remove and restore endpoints, and what an idle one costs: Gatehouse and
// Caddy in one run. What is measured and how to read it: docs/benchmarks.md.

const SIZES = [1, 100, 1_000, 5_000]
const ROUNDS = 30
const WARM_UP = 5
/** The port that is added and removed: above those of the largest subject. */
const CHANGED_PORT = 18_000
const STARTS = 7
const STORED = 1_000
const MEMORY_RUNS = 3
/** What is not done by then never will be, ms. */
const LONGEST = 20 * 60_000
/** How long a node is left alone before its memory is read, ms. */
const SETTLE = 3_000

const print = (line = '') => process.stdout.write(`${line}\n`)
const count = (number: number) => number.toLocaleString('en')
const ms = (number: number) => number.toFixed(number < 100 ? 1 : 0)
const spread = (times: readonly number[]) =>
  `${ms(quantile(times))} (${ms(quantile(times, 0.25))}–${ms(quantile(times, 0.75))})`

function verdict(what: string, value: string, wanted: string, met: boolean): void {
  print(
    `  ${what.padEnd(34)} ${value.padStart(9)}   wanted: ${wanted} – ${met ? 'met' : 'NOT MET'}`,
  )
}

/** What is installed as `caddy`, or `undefined`. */
function caddyVersion(): string | undefined {
  try {
    return execFileSync('caddy', ['version'], { encoding: 'utf8' }).split(' ')[0]?.trim()
  } catch {
    return undefined
  }
}

/** Writes 4 KiB and has the disk keep them, on call; answers how long it took, ms. */
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
  await until(() => answers(host, port, path))
  times.add.push(performance.now() - begun)
  await pause(20)
  begun = performance.now()
  await remove(port)
  await until(() => refuses(host, port))
  times.remove.push(performance.now() - begun)
}

async function measureChanges(withCaddy: boolean): Promise<void> {
  const subjects: Subject[] = []
  for (const size of SIZES) {
    subjects.push(await startGatehouse(size, await storeEndpoints(size)))
    if (withCaddy) subjects.push(await startCaddy(size))
  }
  const times = new Map(
    subjects.map((subject): [Subject, Times] => [subject, { add: [], remove: [] }]),
  )
  const keepOnDisk = createDiskProbe()
  const disk: number[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    disk.push(keepOnDisk())
    for (const at of shuffled(subjects.length)) {
      const subject = subjects[at] as Subject
      const into = round < WARM_UP ? { add: [], remove: [] } : times.get(subject)
      await changeOnce(subject, CHANGED_PORT + (round % 10), into as Times)
      // What it still does after its answer is not to fall into the next one's time.
      await pause(subject.name === 'Caddy' ? 20 + subject.size / 10 : 20)
    }
  }
  for (const subject of subjects) await subject.stop()
  print(`The disk: 4 KiB written and synced between the rounds, ${spread(disk)} ms`)
  print()

  const of = (name: Subject['name'], size: number) =>
    subjects.flatMap((subject) =>
      subject.name === name && subject.size === size ? [times.get(subject) as Times] : [],
    )[0]
  const tables = [
    ['add', 'Add: from asking until the new port answers with 200'],
    ['remove', 'Remove: from asking until it is answered and the port refuses connections'],
  ] as const
  for (const [change, title] of tables) {
    const median = (name: Subject['name'], size: number) => quantile(of(name, size)?.[change] ?? [])
    print(`${title}; ms, median (quartiles) of ${ROUNDS}`)
    print(
      `  ${'present'.padStart(7)}   ${'Gatehouse'.padEnd(20)} ${'Caddy'.padEnd(20)} Caddy : Gatehouse`,
    )
    for (const size of SIZES) {
      const caddy = of('Caddy', size)
      const ratio = median('Caddy', size) / median('Gatehouse', size)
      print(
        `  ${count(size).padStart(7)}   ${spread(of('Gatehouse', size)?.[change] ?? []).padEnd(20)} ` +
          (caddy === undefined ? '-' : `${spread(caddy[change]).padEnd(20)} ${ratio.toFixed(1)}`),
      )
    }
    const flat = median('Gatehouse', 5_000) / median('Gatehouse', 1)
    verdict('Gatehouse, 5,000 : 1', flat.toFixed(2), 'at most 1.5', flat <= 1.5)
    if (withCaddy) {
      const faster = median('Caddy', 1_000) / median('Gatehouse', 1_000)
      verdict('Caddy : Gatehouse at 1,000', faster.toFixed(1), 'at least 10', faster >= 10)
    }
    print()
  }
}

async function measureStarts(): Promise<void> {
  const few = await storeEndpoints(1)
  const many = await storeEndpoints(STORED)
  const times = { few: [] as number[], many: [] as number[] }
  let silent = 0
  for (let run = 0; run < STARTS + 1; run++) {
    const one = await startGatehouse(1, few)
    await one.stop()
    const all = await startGatehouse(STORED, many)
    for (const port of portsOf(STORED)) {
      // Not asked a second time: what did not listen when the node said so would show here.
      if (!(await answers(all.host, port, all.path))) silent++
    }
    await all.stop()
    // The first run of each fills the caches of files.
    if (run === 0) continue
    times.few.push(one.startTime)
    times.many.push(all.startTime)
  }
  const ratio = quantile(times.many) / quantile(times.few)
  print(`Start: from spawning the process until every endpoint listens; ms, median of ${STARTS}`)
  print(`  with one endpoint stored     ${spread(times.few)}`)
  print(`  with ${count(STORED)} endpoints stored  ${spread(times.many)}`)
  print(`  did not answer when the node was ready: ${silent} of ${count(STORED * (STARTS + 1))}`)
  verdict(`${count(STORED)} : 1`, ratio.toFixed(2), 'under 4', ratio < 4 && silent === 0)
  print()
}

async function measureMemory(): Promise<void> {
  const probe = ['--expose-gc', '--import', join(import.meta.dirname, 'memory-probe.ts')]
  const folders = new Map([
    [1, await storeEndpoints(1)],
    [5_000, await storeEndpoints(5_000)],
  ])
  const kinds = ['as it is', 'collected'] as const
  const each: Record<(typeof kinds)[number], number[]> = { 'as it is': [], collected: [] }
  const heap: number[] = []
  for (let run = 0; run < MEMORY_RUNS; run++) {
    const use = { 'as it is': [0, 0], collected: [0, 0], heap: [0, 0] }
    for (const [at, [size, folder]] of [...folders].entries()) {
      const node = await startGatehouse(size, folder, probe)
      await pause(SETTLE)
      for (const kind of kinds) {
        const memory = await memoryOf(node, kind)
        use[kind][at] = memory.rss
        use.heap[at] = memory.heap
      }
      await node.stop()
    }
    const perListener = ([few = 0, many = 0]: number[]) => (many - few) / 4_999 / 1024
    for (const kind of kinds) each[kind].push(perListener(use[kind]))
    heap.push(perListener(use.heap))
  }
  print(
    `Memory of an idle listener: (node with 5,000 − node with 1) / 4,999; KiB, median of ${MEMORY_RUNS}`,
  )
  print(`  JavaScript objects, garbage collected  ${quantile(heap).toFixed(1)}`)
  const asItIs = quantile(each['as it is'])
  const collected = quantile(each.collected)
  verdict('resident, as it is after 3 s', asItIs.toFixed(1), 'under 20', asItIs < 20)
  verdict('resident, garbage collected', collected.toFixed(1), 'under 20', collected < 20)
  print()
}

setTimeout(() => {
  process.stderr.write('The run took too long and was given up.\n')
  process.exit(1)
}, LONGEST).unref()

const caddy = caddyVersion()
const begun = performance.now()
const load = () => (loadavg()[0] ?? 0).toFixed(1)
print(`Node.js ${process.version}, ${availableParallelism()} cores, load ${load()} at the begin`)
print(
  caddy === undefined
    ? 'Caddy is not installed (apt-get install caddy): left out.'
    : `Caddy ${caddy}`,
)
print()
await measureChanges(caddy !== undefined)
await measureStarts()
await measureMemory()
print(`${Math.round((performance.now() - begun) / 1000)} s, load ${load()} at the end`)
