// What `npm test` runs: every stage, also after one that failed, then their sum on the last line.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { unprivileged } from '../e2e/support/unprivileged.ts'
import { canMakeBareRoot } from './bare-root.ts'
import { findChromium } from './chromium.ts'
import { type Count, countCheck, countTests, sumUp } from './count.ts'
import { hasMounts, hasNamespaces } from './namespaces.ts'
import { type RunOptions, runCommand } from './run-command.ts'
import { findStrace } from './strace.ts'
import { EVENTS_VARIABLE, readEvents } from './test-events.ts'

/** Time limit of everything, in seconds. Continuous integration allows 90 minutes with `npm ci`. */
const TOTAL_LIMIT = 75 * 60

/** Time limit of a check, such as the types, in seconds. It takes a twentieth on two cores. */
const CHECK_LIMIT = 10 * 60

/**
 * Seconds after which a stage of tests is stopped if no test started or ended. A slow machine may
 * take as long as it needs; no single test may.
 */
const STALL_LIMIT = 10 * 60

const reports = mkdtempSync(path.join(tmpdir(), 'gatehouse-test-'))
// Hundreds of servers and commands are started from the same sources: compiled once is enough.
process.env.NODE_COMPILE_CACHE = path.join(reports, 'compiled')
const say = (line: string) => process.stdout.write(`${line}\n`)

const started = performance.now()
const secondsLeft = () => Math.max(0, TOTAL_LIMIT - (performance.now() - started) / 1000)

const check = async (command: string, ...args: string[]) =>
  countCheck(await runCommand(command, args, { limit: Math.min(CHECK_LIMIT, secondsLeft()) }))

/** Runs a test runner that has the reporter of `test-events.ts`. */
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
  return countTests(exitCode, events && sumUp(events))
}

async function unit(): Promise<Count> {
  const strace = await findStrace()
  if (!strace) say('strace cannot be had here: *.strace.test.ts are left out.')
  const networks = await hasNamespaces()
  if (!networks) say('No network namespaces can be made here: *.netns.test.ts are left out.')
  const mounts = await hasMounts()
  if (!mounts) say('Nothing can be mounted here: *.mount.test.ts are left out.')
  const bareRoot = await canMakeBareRoot()
  if (!bareRoot) say('No bare Debian can be made here: *.debootstrap.test.ts are left out.')
  return await runTests(
    'vitest',
    ['run', '--reporter=default', '--reporter=./.ci/vitest-reporter.ts'],
    {
      GATEHOUSE_TEST_STRACE: strace ? '1' : '0',
      GATEHOUSE_TEST_NETNS: networks ? '1' : '0',
      GATEHOUSE_TEST_MOUNT: mounts ? '1' : '0',
      GATEHOUSE_TEST_DEBOOTSTRAP: bareRoot ? '1' : '0',
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
        "no Chromium starts here: Playwright's cannot be downloaded or run, and Debian's cannot " +
          'be installed; install Chromium and name it in GATEHOUSE_CHROMIUM',
      ],
    }
  }
  if (unprivileged === undefined) {
    say('No port is refused to anybody here: the journey about privileged ports is left out.')
  }
  return await runTests('playwright', ['test', '--reporter=list,./.ci/playwright-reporter.ts'], {
    GATEHOUSE_CHROMIUM: chromium,
  })
}

const outOfTime: Count = {
  passed: 0,
  failed: 1,
  notes: [`did not start: the stages before took all of ${TOTAL_LIMIT / 60} minutes`],
}

const stages: readonly (readonly [string, () => Promise<Count>])[] = [
  ['types', () => check('tsc', '--noEmit')],
  ['lint', () => check('npm', 'run', '--silent', 'lint')],
  // Before the tests, so that they all see the server as `npm start` leaves it.
  ['build', () => check('vite', 'build', '--logLevel', 'warn')],
  ['unit', unit],
  ['browser', browser],
]

const lines: string[] = []
let [passed, failed] = [0, 0]
try {
  for (const [name, run] of stages) {
    say(`\n── ${name}`)
    const start = performance.now()
    const count = secondsLeft() === 0 ? outOfTime : await run()
    passed += count.passed
    failed += count.failed
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    lines.push(
      `${name.padEnd(8)} ${count.passed} passed, ${count.failed} failed in ${seconds} s`,
      ...count.notes.map((note) => `         ${note}`),
    )
  }
} finally {
  rmSync(reports, { recursive: true, force: true })
}
say(`\n${lines.join('\n')}\n`)
say(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
