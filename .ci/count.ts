import { stripVTControlCharacters } from 'node:util'
import { STOPPED } from './run-command.ts'
import type { TestEvent } from './test-events.ts'

/** The sum of what a test runner reported. */
export interface Report {
  readonly passed: number
  /** What failed and how, a line each: the sum repeats them, as a log that is cut keeps its end. */
  readonly failed: readonly string[]
  /** Names of tests that did not run. There are none here by rule: they count as failed. */
  readonly skipped: readonly string[]
  /** Names of tests that started and did not end. */
  readonly running: readonly string[]
  /** How many planned tests did not start; 0 where the runner does not say what it plans. */
  readonly notStarted: number
}

/** How a stage ended. */
export interface Count {
  readonly passed: number
  readonly failed: number
  /** What failed, and why it counts so where the runner's own output does not say it. */
  readonly notes: readonly string[]
}

// Playwright colours what it says.
const how = (message?: string) =>
  message === undefined ? '' : ` – ${stripVTControlCharacters(message).split('\n', 1)[0]}`

/** Sums up the events of a run, also of one that was cut off. Of a repeated test the last try counts. */
export function sumUp(events: readonly TestEvent[]): Report {
  const tests = new Map<string, Extract<TestEvent, { type: 'started' | 'ended' }>>()
  const outside: string[] = []
  let planned = 0
  for (const event of events) {
    if (event.type === 'planned') planned += event.tests
    else if (event.type === 'failed') outside.push(event.title + how(event.error))
    else tests.set(event.id, event)
  }
  let passed = 0
  const failed: string[] = []
  const skipped: string[] = []
  const running: string[] = []
  for (const test of tests.values()) {
    if (test.type === 'started') running.push(test.title)
    else if (test.status === 'passed') passed += 1
    else if (test.status === 'skipped') skipped.push(test.title)
    else failed.push(test.title + how(test.error))
  }
  const notStarted = Math.max(0, planned - tests.size)
  return { passed, failed: [...failed, ...outside], skipped, running, notStarted }
}

/** Counts a stage that is one check, such as the types: it passes or fails as a whole. */
export const countCheck = (exitCode: number): Count =>
  exitCode === 0 ? { passed: 1, failed: 0, notes: [] } : { passed: 0, failed: 1, notes: [] }

/**
 * Counts a stage that runs tests, so that nothing passes unseen: no report, no test, a skipped
 * test, a test that did not end and a runner that fails without saying why are failures.
 *
 * @param report `undefined` when the runner reported nothing
 */
export function countTests(exitCode: number, report: Report | undefined): Count {
  if (report === undefined) {
    return { passed: 0, failed: 1, notes: [`left no report (exit code ${exitCode})`] }
  }
  const { passed, skipped, running, notStarted } = report
  let failed = report.failed.length + skipped.length
  const notes = [
    ...report.failed.map((name) => `failed: ${name}`),
    ...skipped.map((name) => `skipped, which counts as failed: ${name}`),
  ]
  if (exitCode === STOPPED || running.length + notStarted > 0) {
    failed += 1
    notes.push(
      `did not come to its end (exit code ${exitCode}): ${running.length} tests were running and ` +
        `${notStarted} had not started, which counts as one failed`,
      ...running.map((name) => `was running: ${name}`),
    )
  }
  if (passed + report.failed.length === 0) {
    failed += 1
    notes.push('ran no test')
  }
  if (exitCode !== 0 && failed === 0) {
    failed += 1
    notes.push(`every test passed, but the runner failed (exit code ${exitCode})`)
  }
  return { passed, failed, notes }
}
