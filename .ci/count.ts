import { stripVTControlCharacters } from 'node:util'
import { STOPPED } from './run-command.ts'
import type { TestEvent } from './test-events.ts'

/** The summary of a test run. */
export interface Report {
  /** Number of passed tests, including flaky ones. */
  readonly passed: number
  /** A line per test that passed only when it was repeated, with the message of the failure. */
  readonly flaky: readonly string[]
  /**
   * A line per failure with its message. The summary repeats them because truncated logs keep their
   * end.
   */
  readonly failed: readonly string[]
  /** Names of skipped tests, which count as failed. */
  readonly skipped: readonly string[]
  /** Names of tests that started and did not end. */
  readonly running: readonly string[]
  /** Number of planned tests that did not start; 0 if the runner does not report its plan. */
  readonly notStarted: number
}

/** The result of a stage. */
export interface Count {
  readonly passed: number
  readonly failed: number
  /** The failures, and reasons that the runner's own output does not show. */
  readonly notes: readonly string[]
}

// Playwright's messages contain color codes.
const how = (message?: string) =>
  message === undefined ? '' : ` – ${stripVTControlCharacters(message).split('\n', 1)[0]}`

/**
 * Summarizes the events of a run, including an interrupted one. For a retried test the last attempt
 * counts.
 */
export function summarize(events: readonly TestEvent[]): Report {
  const tests = new Map<string, Extract<TestEvent, { type: 'started' | 'ended' }>>()
  const outside: string[] = []
  let planned = 0
  for (const event of events) {
    if (event.type === 'planned') planned += event.tests
    else if (event.type === 'failed') outside.push(event.title + how(event.error))
    else tests.set(event.id, event)
  }
  let passed = 0
  const flaky: string[] = []
  const failed: string[] = []
  const skipped: string[] = []
  const running: string[] = []
  for (const test of tests.values()) {
    if (test.type === 'started') running.push(test.title)
    else if (test.status === 'passed') passed += 1
    else if (test.status === 'flaky') flaky.push(test.title + how(test.error))
    else if (test.status === 'skipped') skipped.push(test.title)
    else failed.push(test.title + how(test.error))
  }
  const notStarted = Math.max(0, planned - tests.size)
  return {
    passed: passed + flaky.length,
    flaky,
    failed: [...failed, ...outside],
    skipped,
    running,
    notStarted,
  }
}

/** Number of lines of a failed check that the summary repeats. */
const REPEATED_LINES = 12

/** Counts a stage that is a single check, such as the types. Notes the end of its output. */
export function countCheck(exitCode: number, output: string): Count {
  if (exitCode === 0) return { passed: 1, failed: 0, notes: [] }
  const lines = stripVTControlCharacters(output).split('\n')
  const notes = lines.filter((line) => line.trim() !== '').slice(-REPEATED_LINES)
  return { passed: 0, failed: 1, notes: [`failed with exit code ${exitCode}`, ...notes] }
}

/**
 * Counts a stage that runs tests. A missing report, no tests, a skipped test, a test that did not
 * end and an unexplained failure of the runner all count as failures.
 *
 * @param report `undefined` if the runner reported nothing
 */
export function countTests(exitCode: number, report: Report | undefined): Count {
  if (report === undefined) {
    return { passed: 0, failed: 1, notes: [`left no report (exit code ${exitCode})`] }
  }
  const { passed, skipped, running, notStarted } = report
  let failed = report.failed.length + skipped.length
  const notes = [
    ...report.failed.map((name) => `failed: ${name}`),
    ...report.flaky.map((name) => `flaky: ${name}`),
    ...skipped.map((name) => `skipped, which counts as failed: ${name}`),
  ]
  if (exitCode === STOPPED || running.length + notStarted > 0) {
    failed += 1
    notes.push(
      `did not finish (exit code ${exitCode}): ${running.length} tests were running and ` +
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
