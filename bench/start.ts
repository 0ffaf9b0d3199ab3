import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { NODE_FLAGS } from '../bin/node-flags.js'
import { bundleServer } from '../tools/bundle-server.ts'
import { addFigure, type Figure } from './figures.ts'
import { quantile } from './load/statistics.ts'
import { count, print, printEnd, printMachine, spread, verdict } from './report.ts'
import { nextHost, FIRST_PORT as PORT } from './servers/address.ts'
import { makeFolder } from './servers/folder.ts'
import { storeEndpoints } from './servers/gatehouse.ts'
import { processorTime, startProcess } from './servers/process.ts'
import { withinBudget } from './time-budget.ts'

// Measures the start and the idle memory of the packed form. docs/benchmarks.md explains the
// measurements.

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '10' } },
})
const ROUNDS = Number(options.rounds)
const STORED = 1_000
const LISTENERS = 10_000
/** How long a node is idle before its memory is read, ms. */
const SETTLE = 3_000

/** The target of 350 ms on a host on which bare Node.js starts in 71 ms. */
const MAX_TO_BARE = 4.9

/** Maximum start of an empty store, ms. */
const MAX_EMPTY = 350

/** Maximum start with stored endpoints, ms: 1.3 times that of an empty store. */
const MAX_STORED = 455

const ROOT = join(import.meta.dirname, '..')
const packed = makeFolder('packed')
const cache = makeFolder('compiled')

/** Creates the packed form, as `npm pack` would. */
async function pack(): Promise<void> {
  cpSync(join(ROOT, 'package.json'), join(packed, 'package.json'))
  cpSync(join(ROOT, 'bin'), join(packed, 'bin'), { recursive: true })
  await bundleServer(join(packed, 'dist/server'))
}

/** Starts a node from the packed form, and waits until it has reported that it is ready. */
function startNode({ data, host }: { data: string; host: string }) {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_'))
  const flags = ['--data', data, '--endpoint', `tcp://${host}:${PORT}`]
  return startProcess(
    process.execPath,
    [...NODE_FLAGS, join(packed, 'bin/gatehouse.js'), 'start', ...flags],
    { ...Object.fromEntries(env), NODE_COMPILE_CACHE: cache },
    async (printed) => printed().includes('gatehouse is ready'),
  )
}

const startBare = () =>
  startProcess(
    process.execPath,
    ['-e', "require('http').createServer().listen(0, '127.0.0.1', () => console.log('ready'))"],
    process.env,
    async (printed) => printed().includes('ready'),
  )

interface Start {
  /** From spawning the process until it was ready, ms. */
  readonly time: number
  /** Its CPU time until then, ms (a multiple of 10). */
  readonly cost: number
}

async function measureStart(started: ReturnType<typeof startProcess>): Promise<Start> {
  const node = await started
  const start = { time: node.startTime, cost: processorTime(node) / 1_000 }
  await node.stop()
  return start
}

/** Returns the resident memory of an idle node, MB (1,000,000 bytes). */
async function memoryOf(started: ReturnType<typeof startProcess>): Promise<number> {
  const node = await started
  await pause(SETTLE)
  const status = readFileSync(`/proc/${node.process.pid}/status`, 'utf8')
  await node.stop()
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024) / 1e6
}

function show(
  what: string,
  value: string,
  target?: string,
  isMet?: boolean,
  peers?: Figure['peers'],
): void {
  const compared = isMet === undefined ? '' : `${target} ${verdict(isMet)}`
  print(`  ${what.padEnd(44)} ${value.padEnd(22)} ${compared}`)
  addFigure({ what, value, peers, target, isMet })
}

const whole = (number: number) => number.toFixed(0)

printMachine()
await pack()
const stored = await storeEndpoints(STORED)
const subjects = {
  bare: () => startBare(),
  empty: () => startNode({ data: makeFolder(`empty-${nextHost()}`), host: nextHost() }),
  many: () => startNode(stored),
}
const starts: Record<keyof typeof subjects, Start[]> = { bare: [], empty: [], many: [] }
// The first start of each fills the compile cache and the file caches.
for (const begin of Object.values(subjects)) await measureStart(begin())
for (const _ of withinBudget(ROUNDS, 0.5)) {
  for (const [name, begin] of Object.entries(subjects)) {
    starts[name as keyof typeof subjects].push(await measureStart(begin()))
  }
}
const timesOf = (name: keyof typeof subjects) => starts[name].map(({ time }) => time)
const empty = quantile(timesOf('empty'))
const many = quantile(timesOf('many'))
const bare = spread(timesOf('bare'), whole)
print(`  ${'start of bare Node.js, ms'.padEnd(44)} ${bare}`)
show(
  'start, empty store, ms',
  spread(timesOf('empty'), whole),
  `at most ${MAX_EMPTY}`,
  empty <= MAX_EMPTY,
  { 'node:http': bare },
)
const toBare = empty / quantile(timesOf('bare'))
show(
  'start, empty store : bare Node.js',
  toBare.toFixed(2),
  `at most ${MAX_TO_BARE}`,
  toBare <= MAX_TO_BARE,
)
const costs = starts.empty.map(({ cost }) => cost)
print(`  ${'its CPU time, ms'.padEnd(44)} ${spread(costs, whole)}`)
show(
  `start, ${count(STORED)} endpoints, ms`,
  spread(timesOf('many'), whole),
  `at most ${MAX_STORED}`,
  many <= MAX_STORED,
)
show(`start, ${count(STORED)} endpoints : empty store`, (many / empty).toFixed(2))
const idle = await memoryOf(subjects.empty())
show('memory of an idle node, MB', whole(idle), 'at most 90', idle <= 90)
const listening = await memoryOf(startNode(await storeEndpoints(LISTENERS)))
show(
  `memory with ${count(LISTENERS)} listeners, MB`,
  whole(listening),
  'at most 300',
  listening <= 300,
)
printEnd()
// Exiting stops all started processes and removes their files.
process.exit()
