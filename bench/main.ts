import { spawn, spawnSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { FIGURES_VARIABLE, type Figure, readFigures } from './figures.ts'
import { print, printEnd, printMachine } from './report.ts'
import { makeFolder } from './servers/folder.ts'

// Runs every benchmark with a target, and prints their figures as one table. docs/benchmarks.md
// explains the measurements.
//
//   npm run bench
//   npm run bench -- start documents    # some of them

/** The benchmarks in order, with the arguments of a short run. */
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  start: [],
  documents: ['--rounds', '10'],
  transfer: [],
  queries: ['--rounds', '8'],
  postgres: ['--rounds', '10'],
  nodes: ['--rounds', '100'],
  jobs: [],
  endpoints: ['--rounds', '10'],
  'sign-in': ['--rounds', '8'],
  console: ['--minutes', '0'],
}

/** Programs that Gatehouse is compared with or runs behind. json-server is installed by the run. */
const PEERS = ['caddy', 'haproxy']

const folder = makeFolder('figures')

/** Runs a benchmark. Returns its figures, and whether it ended without an error. */
async function run(name: string): Promise<{ figures: Figure[]; isComplete: boolean }> {
  const file = join(folder, `${name}.jsonl`)
  const log = createWriteStream(join(folder, `${name}.log`))
  const args = [join(import.meta.dirname, `${name}.ts`), ...(BENCHMARKS[name] ?? [])]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, [FIGURES_VARIABLE]: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.pipe(log)
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { figures: readFigures(file), isComplete: code === 0 }
}

const verdictOf = ({ target, isMet }: Figure) =>
  target === undefined ? '' : isMet ? 'met' : '**not met**'

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in BENCHMARKS))
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown: ${unknown.join(', ')}. There are: ${Object.keys(BENCHMARKS).join(', ')}.\n`,
  )
  process.exit(2)
}
printMachine()
const missing = PEERS.filter((peer) => spawnSync(peer, ['-v']).error !== undefined)
for (const peer of missing) print(`${peer} is not installed.`)
print()
print('| figure (bare node:http = 1.00 in every ratio to it) | measured | target | |')
print('|---|---:|---|---|')
for (const name of chosen.length > 0 ? chosen : Object.keys(BENCHMARKS)) {
  const begun = performance.now()
  const { figures, isComplete } = await run(name)
  const seconds = Math.round((performance.now() - begun) / 1_000)
  print(`| **${name}**, ${seconds} s${isComplete ? '' : ', **ended with an error**'} | | | |`)
  for (const figure of figures) {
    print(`| ${figure.what} | ${figure.value} | ${figure.target ?? ''} | ${verdictOf(figure)} |`)
  }
  if (!isComplete) process.exitCode = 1
}
print()
printEnd()
