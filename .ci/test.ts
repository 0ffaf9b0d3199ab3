// What `npm test` runs: every stage, also after one that failed, then their sum on the last line.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { unprivileged } from '../e2e/support/unprivileged.ts'
import { findChromium } from './chromium.ts'
import {
  type Count,
  countCheck,
  countTests,
  type Report,
  readPlaywright,
  readVitest,
} from './count.ts'
import { hasNamespaces } from './namespaces.ts'
import { runCommand } from './run-command.ts'
import { findStrace } from './strace.ts'

const reports = mkdtempSync(path.join(tmpdir(), 'gatehouse-test-'))
// Hundreds of servers and commands are started from the same sources: compiled once is enough.
process.env.NODE_COMPILE_CACHE = path.join(reports, 'compiled')
const say = (line: string) => process.stdout.write(`${line}\n`)

function readReport(file: string, read: (json: unknown) => Report): Report | undefined {
  try {
    return read(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

const check = async (command: string, ...args: string[]) =>
  countCheck(await runCommand(command, args, { limit: 180 }))

async function unit(): Promise<Count> {
  const strace = await findStrace()
  if (!strace) say('strace cannot be had here: *.strace.test.ts are left out.')
  const networks = await hasNamespaces()
  if (!networks) say('No network namespaces can be made here: *.netns.test.ts are left out.')
  const file = path.join(reports, 'unit.json')
  const exitCode = await runCommand(
    'vitest',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`],
    {
      limit: 540,
      env: {
        GATEHOUSE_TEST_STRACE: strace ? '1' : '0',
        GATEHOUSE_TEST_NETNS: networks ? '1' : '0',
      },
    },
  )
  return countTests(exitCode, readReport(file, readVitest))
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
  const file = path.join(reports, 'browser.json')
  const exitCode = await runCommand('playwright', ['test', '--reporter=list,json'], {
    // It takes eight minutes on two cores of their own, and some more on shared ones.
    limit: 660,
    env: { GATEHOUSE_CHROMIUM: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  })
  return countTests(exitCode, readReport(file, readPlaywright))
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
    const count = await run()
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
