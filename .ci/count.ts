import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'

/** What a test runner's report says, whichever runner wrote it. */
export interface Report {
  readonly passed: number
  /** What failed and how, a line each: the sum repeats them, as a log that is cut keeps its end. */
  readonly failed: readonly string[]
  /** Names of tests that did not run. There are none here by rule: they count as failed. */
  readonly skipped: readonly string[]
}

/** How a stage ended. */
export interface Count {
  readonly passed: number
  readonly failed: number
  /** What failed, and why it counts so where the runner's own output does not say it. */
  readonly notes: readonly string[]
}

interface VitestJson {
  testResults: {
    name: string
    status: string
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[]
  }[]
}

// Playwright colours what it says.
const how = (message?: string) =>
  message === undefined ? '' : ` – ${stripVTControlCharacters(message).split('\n', 1)[0]}`

/** Reads what Vitest's JSON reporter wrote. A file that could not be loaded is a failed test. */
export function readVitest(json: unknown): Report {
  const { testResults } = json as VitestJson
  let passed = 0
  const failed: string[] = []
  const skipped: string[] = []
  for (const { name, status, assertionResults } of testResults) {
    const file = path.relative('', name)
    const failedBefore = failed.length
    for (const test of assertionResults) {
      const title = `${file}: ${test.fullName}`
      if (test.status === 'passed') passed += 1
      else if (test.status === 'failed') failed.push(title + how(test.failureMessages?.[0]))
      else skipped.push(title)
    }
    if (status === 'failed' && failed.length === failedBefore) failed.push(file)
  }
  return { passed, failed, skipped }
}

interface PlaywrightSuite {
  title: string
  suites?: PlaywrightSuite[]
  specs?: { title: string; tests: PlaywrightTest[] }[]
}

interface PlaywrightTest {
  status: string
  results?: { error?: { message?: string } }[]
}

interface PlaywrightJson {
  suites: PlaywrightSuite[]
  errors?: { message?: string }[]
}

/** Reads what Playwright's JSON reporter wrote. A test that passed at the second try failed. */
export function readPlaywright(json: unknown): Report {
  const { suites, errors = [] } = json as PlaywrightJson
  let passed = 0
  const failed = errors.map(({ message }) => `outside of any test: ${message}`)
  const skipped: string[] = []
  const read = (suite: PlaywrightSuite) => {
    for (const spec of suite.specs ?? []) {
      const title = `${suite.title}: ${spec.title}`
      for (const { status, results } of spec.tests) {
        if (status === 'expected') passed += 1
        else if (status === 'skipped') skipped.push(title)
        else failed.push(title + how(results?.[0]?.error?.message))
      }
    }
    suite.suites?.forEach(read)
  }
  suites.forEach(read)
  return { passed, failed, skipped }
}

/** Counts a stage that is one check, such as the types: it passes or fails as a whole. */
export const countCheck = (exitCode: number): Count =>
  exitCode === 0 ? { passed: 1, failed: 0, notes: [] } : { passed: 0, failed: 1, notes: [] }

/**
 * Counts a stage that runs tests, so that nothing passes unseen: no report, no test, a skipped
 * test and a runner that fails without saying why are failures.
 *
 * @param report what the runner wrote; `undefined` when it wrote none that can be read
 */
export function countTests(exitCode: number, report: Report | undefined): Count {
  if (report === undefined) {
    return { passed: 0, failed: 1, notes: [`left no report (exit code ${exitCode})`] }
  }
  const { passed, skipped } = report
  let failed = report.failed.length + skipped.length
  const notes = [
    ...report.failed.map((name) => `failed: ${name}`),
    ...skipped.map((name) => `skipped, which counts as failed: ${name}`),
  ]
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
