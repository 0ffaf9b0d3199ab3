import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { FIGURES_VARIABLE, type Figure, type Results, readResults } from './figures.ts'
import { watchStolenTime } from './load/stolen-time.ts'
import { print, printEnd, printMachine } from './report.ts'
import { makeFolder } from './servers/folder.ts'
import { BUDGET_VARIABLE } from './time-budget.ts'

// Runs every benchmark, and prints their figures as one table. Each measures as many rounds as fit
// into its time budget. docs/benchmarks.md explains the measurements.
//
//   npm run bench
//   npm run bench -- start documents    # some of them

/** Maximum duration of the run, ms, if benchmarks exceed their budgets. */
const MAX_DURATION = 11.5 * 60_000

/** Number of characters of its output that are shown if a benchmark fails. */
const SHOWN_ON_ERROR = 4_000

/** Time that a stopped benchmark has to end its processes, ms. */
const END_TIMEOUT = 10_000

interface Benchmark {
  readonly name: string
  /** The heading of its figures; default the name. */
  readonly title?: string
  /** The arguments of a short run. */
  readonly args: readonly string[]
  /** Time budget, s. The benchmark is stopped after twice that time. */
  readonly seconds: number
}

const QUERIES = ['--rounds', '8', '--warm-up', '1000']

/** The benchmarks in order; the budgets are 660 s together. */
const BENCHMARKS: readonly Benchmark[] = [
  { name: 'files', args: [], seconds: 5 },
  { name: 'start', args: ['--rounds', '6'], seconds: 25 },
  { name: 'documents', args: ['--rounds', '10', '--warm-up', '1000'], seconds: 80 },
  { name: 'transfer', args: ['--short'], seconds: 55 },
  { name: 'jobs', args: ['--documents', '50000'], seconds: 40 },
  {
    name: 'queries',
    title: 'queries, SQLite',
    args: [...QUERIES, '--engine', 'sqlite'],
    seconds: 75,
  },
  {
    name: 'queries',
    title: 'queries, PostgreSQL',
    args: [...QUERIES, '--engine', 'postgres'],
    seconds: 85,
  },
  { name: 'postgres', args: ['--rounds', '10'], seconds: 65 },
  { name: 'nodes', args: ['--rounds', '40'], seconds: 35 },
  { name: 'endpoints', args: ['--rounds', '16'], seconds: 40 },
  { name: 'sign-in', args: ['--rounds', '10'], seconds: 45 },
  { name: 'console', args: ['--minutes', '0'], seconds: 55 },
  {
    name: 'stalls',
    title: 'stalls, longest health check, ms',
    args: ['--short'],
    seconds: 55,
  },
]

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

interface Run extends Results {
  /** Why it is incomplete; empty if it is not. */
  readonly problem: string
}

/**
 * Runs a benchmark, and stops it at its limit or at the end of the run.
 *
 * @param budget s.
 */
async function run({ name, args, seconds }: Benchmark, budget: number): Promise<Run> {
  const file = join(folder, `${name}${args.join('')}.jsonl`)
  // Earlier writes would delay those of this benchmark.
  execFileSync('sync')
  const child = spawn(process.execPath, [join(import.meta.dirname, `${name}.ts`), ...args], {
    env: { ...process.env, [FIGURES_VARIABLE]: file, [BUDGET_VARIABLE]: String(budget) },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own, so that a stopped benchmark leaves no process behind.
    detached: true,
  })
  running = child
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed = (printed + text).slice(-SHOWN_ON_ERROR)
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let isStopped = false
  const timer = setTimeout(
    () => {
      isStopped = true
      signal(child, 'SIGTERM')
      setTimeout(() => signal(child, 'SIGKILL'), END_TIMEOUT).unref()
    },
    Math.min(2 * seconds * 1_000, deadline - performance.now()),
  )
  const code = await ended
  clearTimeout(timer)
  signal(child, 'SIGKILL')
  running = undefined
  if (code !== 0 && !isStopped) process.stderr.write(printed)
  const problem = isStopped ? 'stopped at its time limit' : code === 0 ? '' : 'ended with an error'
  return { ...readResults(file), problem }
}

const titleOf = ({ name, title = name }: Benchmark) => title

const printRow = (cells: readonly string[]) => print(`| ${cells.join(' | ')} |`)
const blank = ['', '', '']

function printHead(): void {
  printRow(['figure', 'Gatehouse', 'others', 'target'])
  print('|---|---:|---|---|')
}

function printFigure({ what, value, peers = {}, target = '', isMet }: Figure): void {
  const others = Object.entries(peers).map(([peer, figure]) => `${peer} ${figure}`)
  printRow([what, value, others.join(', '), isMet === false ? `${target}: **not met**` : target])
}

/**
 * Runs a benchmark and prints its figures. Sets the exit code if they are incomplete.
 *
 * @param budget s.
 */
async function runAndPrint(benchmark: Benchmark, budget: number): Promise<void> {
  const begun = performance.now()
  const stolenTime = watchStolenTime()
  const { figures, rounds, problem } = await run(benchmark, budget)
  const notes = [
    `**${titleOf(benchmark)}**`,
    `${Math.round((performance.now() - begun) / 1_000)} s`,
    `stolen ${stolenTime()}`,
    ...(rounds.length > 0 ? [`rounds: ${rounds.join(', ')}`] : []),
    ...(problem ? [`**${problem}**`] : []),
  ]
  printRow([notes.join(', '), ...blank])
  for (const figure of figures) printFigure(figure)
  if (problem !== '') process.exitCode = 1
}

/** Returns the benchmarks that the arguments name, by default all. Exits if a name is unknown. */
function chosenBenchmarks(): readonly Benchmark[] {
  const chosen = process.argv.slice(2)
  const names = [...new Set(BENCHMARKS.map(({ name }) => name))]
  const unknown = chosen.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    process.stderr.write(`Unknown: ${unknown.join(', ')}. There are: ${names.join(', ')}.\n`)
    process.exit(2)
  }
  return BENCHMARKS.filter(({ name }) => chosen.length === 0 || chosen.includes(name))
}

const secondsOf = (benchmarks: readonly Benchmark[]) =>
  benchmarks.reduce((sum, { seconds }) => sum + seconds, 0)

const benchmarks = chosenBenchmarks()
/** When the budgets of all end, s. */
const end = performance.now() / 1_000 + secondsOf(benchmarks)
printMachine()
print()
printHead()
for (const [at, benchmark] of benchmarks.entries()) {
  if (isOver()) {
    printRow([`**${titleOf(benchmark)}**, **not run: the time is over**`, ...blank])
    process.exitCode = 1
    continue
  }
  // If the earlier ones took longer than their budgets, the others share the time that is left.
  const left = end - performance.now() / 1_000
  const share = Math.min(1, left / secondsOf(benchmarks.slice(at)))
  await runAndPrint(benchmark, benchmark.seconds * share)
}
print()
printEnd()
