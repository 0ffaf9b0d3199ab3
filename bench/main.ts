import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { FIGURES_VARIABLE, type Figure, PEERS, readFigures } from './figures.ts'
import { print, printEnd, printMachine } from './report.ts'
import { makeFolder } from './servers/folder.ts'

// Runs every benchmark with a target, and prints their figures as one table. docs/benchmarks.md
// explains the measurements.
//
//   npm run bench
//   npm run bench -- start documents    # some of them

/** Maximum duration of the run, ms. */
const MAX_DURATION = 11.5 * 60_000

/** Time that a stopped benchmark has to end its processes, ms. */
const END_TIMEOUT = 10_000

interface Benchmark {
  /** The arguments of a short run. */
  readonly args: readonly string[]
  /** Maximum duration, s: about twice the usual one. */
  readonly limit: number
}

/** The benchmarks in order. The last one is the longest, and is cut if the time is over. */
const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  start: { args: ['--rounds', '6'], limit: 60 },
  documents: { args: ['--rounds', '8', '--warm-up', '1500'], limit: 180 },
  transfer: { args: [], limit: 120 },
  postgres: { args: ['--rounds', '6'], limit: 150 },
  nodes: { args: ['--rounds', '60'], limit: 60 },
  jobs: { args: [], limit: 100 },
  endpoints: { args: ['--rounds', '12'], limit: 150 },
  'sign-in': { args: ['--rounds', '8'], limit: 120 },
  console: { args: ['--minutes', '0'], limit: 180 },
  queries: { args: ['--rounds', '5', '--warm-up', '1000'], limit: 360 },
}

const folder = makeFolder('figures')
const deadline = performance.now() + MAX_DURATION
const isOver = () => performance.now() >= deadline
let running: ChildProcess | undefined

/** Signals a benchmark and all processes that it has started. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

process.on('exit', () => running && signal(running, 'SIGTERM'))

interface Run {
  readonly figures: readonly Figure[]
  /** Why it is incomplete; empty if it is not. */
  readonly problem: string
}

/** Runs a benchmark, and stops it at its limit or at the end of the run. */
async function run(name: string, { args, limit }: Benchmark): Promise<Run> {
  const file = join(folder, `${name}.jsonl`)
  const log = createWriteStream(join(folder, `${name}.log`))
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...args], {
    env: { ...process.env, [FIGURES_VARIABLE]: file },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own, so that a stopped benchmark leaves no process behind.
    detached: true,
  })
  running = child
  child.stdout.pipe(log)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let isStopped = false
  const timer = setTimeout(
    () => {
      isStopped = true
      signal(child, 'SIGTERM')
      setTimeout(() => signal(child, 'SIGKILL'), END_TIMEOUT).unref()
    },
    Math.min(limit * 1_000, deadline - performance.now()),
  )
  const code = await ended
  clearTimeout(timer)
  signal(child, 'SIGKILL')
  running = undefined
  const problem = isStopped ? 'stopped at its time limit' : code === 0 ? '' : 'ended with an error'
  return { figures: readFigures(file), problem }
}

const verdictOf = ({ isMet }: Figure) => (isMet === undefined ? '' : isMet ? 'met' : '**not met**')

const printRow = (cells: readonly string[]) => print(`| ${cells.join(' | ')} |`)
const blank = [...PEERS.map(() => ''), '', '', '']

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in BENCHMARKS))
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown: ${unknown.join(', ')}. There are: ${Object.keys(BENCHMARKS).join(', ')}.\n`,
  )
  process.exit(2)
}
printMachine()
print()
printRow([
  'figure (bare node:http = 1.00 in every ratio to it)',
  'Gatehouse',
  ...PEERS,
  'target',
  '',
])
print(`|---|---:|${PEERS.map(() => '---:|').join('')}---|---|`)
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  if (isOver()) {
    printRow([`**${name}**, **not run: the time is over**`, ...blank])
    process.exitCode = 1
    continue
  }
  const begun = performance.now()
  const { figures, problem } = await run(name, benchmark)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  printRow([`**${name}**, ${seconds} s${problem && `, **${problem}**`}`, ...blank])
  for (const figure of figures) {
    const { what, value, peers, target } = figure
    const others = PEERS.map((peer) => peers?.[peer] ?? '')
    printRow([what, value, ...others, target ?? '', verdictOf(figure)])
  }
  if (problem !== '') process.exitCode = 1
}
print()
printEnd()
