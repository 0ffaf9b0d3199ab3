// Runs `npm test`: every stage, even after a failed one, then a summary on the last line.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { unprivileged } from '../e2e/support/server/unprivileged.ts'
import { type Count, countCheck, countTests, summarize } from './count.ts'
import { canCreateBareRoot } from './machine/bare-root.ts'
import { findChromium } from './machine/chromium.ts'
import { findCurl } from './machine/curl.ts'
import { findMemoryFolder } from './machine/memory-folder.ts'
import { hasMounts, hasNamespaces } from './machine/namespaces.ts'
import { findPebble } from './machine/pebble.ts'
import { findStrace } from './machine/strace.ts'
import { type RunOptions, runCommand } from './run-command.ts'
import { EVENTS_VARIABLE, readEvents } from './test-events.ts'

/**
 * Time limit of all stages, seconds. Continuous integration allows 90 minutes, including `npm ci`.
 */
const TOTAL_LIMIT = 75 * 60

/**
 * Time limit of a check, such as the types, seconds. A check takes a twentieth of it on two cores.
 */
const CHECK_LIMIT = 10 * 60

/**
 * Seconds without a started or ended test after which a stage is stopped. This limits single tests,
 * not the whole stage on a slow machine.
 */
const STALL_LIMIT = 10 * 60

process.env.TMPDIR = findMemoryFolder() ?? tmpdir()
const reports = mkdtempSync(path.join(tmpdir(), 'gatehouse-test-'))
// The tests start hundreds of processes from the same sources, which are compiled once.
process.env.NODE_COMPILE_CACHE = path.join(reports, 'compiled')
const print = (line: string) => process.stdout.write(`${line}\n`)

const started = performance.now()
const secondsLeft = () => Math.max(0, TOTAL_LIMIT - (performance.now() - started) / 1000)

/** Runs a check, and then prints its output as a whole, because others run at the same time. */
async function check(command: string, ...args: string[]): Promise<Count> {
  let output = ''
  const exitCode = await runCommand(command, args, {
    limit: Math.min(CHECK_LIMIT, secondsLeft()),
    print: (part) => {
      output += part
    },
  })
  process.stdout.write(output)
  return countCheck(exitCode, output)
}

/** The folder of the bundled server, two levels below the root like `dist/server`. */
const BUNDLE = 'dist/test-server'

/** Builds the console, and the bundled server that the tests start. */
async function build(): Promise<Count> {
  const console = await check('node', 'tools/build-console.js')
  const server = await check('node', '.ci/bundle-server.ts', BUNDLE)
  if (server.failed === 0) process.env.GATEHOUSE_TEST_MAIN = path.resolve(BUNDLE, 'main.mjs')
  return {
    passed: console.passed + server.passed,
    failed: console.failed + server.failed,
    notes: [...console.notes, ...server.notes],
  }
}

/** Runs a test runner with the reporter of `test-events.ts`. */
async function runTests(
  command: string,
  args: readonly string[],
  env: RunOptions['env'],
): Promise<Count> {
  const file = path.join(reports, `${command}.jsonl`)
  const exitCode = await runCommand(command, args, {
    limit: secondsLeft(),
    progress: { file, limit: STALL_LIMIT },
    env: { ...env, [EVENTS_VARIABLE]: file },
  })
  const events = readEvents(file)
  return countTests(exitCode, events && summarize(events))
}

async function unit(): Promise<Count> {
  const strace = await findStrace()
  if (!strace) print('Skipped: *.strace.test.ts. strace is not available.')
  const curl = await findCurl()
  if (!curl) print('Skipped: *.curl.test.ts. curl is not available.')
  const networks = await hasNamespaces()
  if (!networks) print('Skipped: *.netns.test.ts. Network namespaces cannot be created.')
  const mounts = await hasMounts()
  if (!mounts) print('Skipped: *.mount.test.ts. File systems cannot be mounted.')
  const pebble = await findPebble()
  if (!pebble) print('Skipped: *.pebble.test.ts and *.pebble.spec.ts. Pebble is not available.')
  const bareRoot = await canCreateBareRoot()
  if (!bareRoot) print('Skipped: *.dpkg.test.ts. A bare Debian cannot be created.')
  return await runTests(
    'vitest',
    ['run', '--reporter=default', '--reporter=./.ci/vitest-reporter.ts'],
    {
      GATEHOUSE_TEST_STRACE: strace ? '1' : '0',
      GATEHOUSE_TEST_CURL: curl ? '1' : '0',
      GATEHOUSE_TEST_NETNS: networks ? '1' : '0',
      GATEHOUSE_TEST_MOUNT: mounts ? '1' : '0',
      GATEHOUSE_TEST_PEBBLE: pebble ? '1' : '0',
      GATEHOUSE_TEST_DPKG: bareRoot ? '1' : '0',
    },
  )
}

async function browser(): Promise<Count> {
  const chromium = await findChromium()
  if (chromium === undefined) {
    return {
      passed: 0,
      failed: 1,
      notes: [
        "Chromium is not available: Playwright's cannot be downloaded or run, and Debian's cannot " +
          'be installed. Install Chromium and set GATEHOUSE_CHROMIUM to its path.',
      ],
    }
  }
  if (!(await findCurl())) {
    print('Skipped: the browser test of suggested commands. curl is not available.')
  }
  if (unprivileged === undefined) {
    print('Skipped: the browser test of privileged ports. Every user can bind every port.')
  }
  return await runTests('playwright', ['test', '--reporter=list,./.ci/playwright-reporter.ts'], {
    GATEHOUSE_CHROMIUM: chromium,
  })
}

const timedOut: Count = {
  passed: 0,
  failed: 1,
  notes: [`did not start: the earlier stages took all of the ${TOTAL_LIMIT / 60} minutes`],
}

/** A stage of the tests. */
type Stage = readonly [name: string, run: () => Promise<Count>]

/**
 * The stages of a step run concurrently. The unit and browser tests run one after the other: each
 * uses several workers, so running them together saves no time and makes servers miss their time
 * limits. The build runs first, because the tests need its output.
 */
const steps: readonly (readonly Stage[])[] = [
  [['build', build]],
  [
    ['types', () => check('npm', 'run', '--silent', 'types')],
    ['lint', () => check('npm', 'run', '--silent', 'lint')],
  ],
  [['unit', unit]],
  [['browser', browser]],
]

/** Runs a stage. Returns its count and the lines of the summary. */
async function runStage([name, run]: Stage) {
  const start = performance.now()
  const count = secondsLeft() === 0 ? timedOut : await run()
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const lines = [
    `${name.padEnd(8)} ${count.passed} passed, ${count.failed} failed in ${seconds} s`,
    ...count.notes.map((note) => `         ${note}`),
  ]
  return { ...count, lines }
}

const lines: string[] = []
let [passed, failed] = [0, 0]
try {
  for (const step of steps) {
    print(`\n── ${step.map(([name]) => name).join(', ')}`)
    for (const count of await Promise.all(step.map(runStage))) {
      passed += count.passed
      failed += count.failed
      lines.push(...count.lines)
    }
  }
} finally {
  rmSync(reports, { recursive: true, force: true })
}
print(`\n${lines.join('\n')}\n`)
print(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
