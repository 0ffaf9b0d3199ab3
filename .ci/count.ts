/** What a test runner's report says, whichever runner wrote it. */
export interface Report {
  readonly passed: number
  readonly failed: number
  /** Names of tests that did not run. There are none here by rule: they count as failed. */
  readonly skipped: readonly string[]
}

/** How a stage ended. */
export interface Count {
  readonly passed: number
  readonly failed: number
  /** Why it counts so, where the runner's own output does not say it. */
  readonly notes: readonly string[]
}

interface VitestJson {
  testResults: {
    name: string
    status: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** Reads what Vitest's JSON reporter wrote. A file that could not be loaded is a failed test. */
export function readVitest(json: unknown): Report {
  const { testResults } = json as VitestJson
  let [passed, failed] = [0, 0]
  const skipped: string[] = []
  for (const { name, status, assertionResults } of testResults) {
    const failedBefore = failed
    for (const test of assertionResults) {
      if (test.status === 'passed') passed += 1
      else if (test.status === 'failed') failed += 1
      else skipped.push(`${name}: ${test.fullName}`)
    }
    if (status === 'failed' && failed === failedBefore) failed += 1
  }
  return { passed, failed, skipped }
}

interface PlaywrightSuite {
  title: string
  suites?: PlaywrightSuite[]
  specs?: { title: string; tests: { status: string }[] }[]
}

/** Reads what Playwright's JSON reporter wrote. A test that passed at the second try failed. */
export function readPlaywright(json: unknown): Report {
  const { suites, errors = [] } = json as { suites: PlaywrightSuite[]; errors?: unknown[] }
  let passed = 0
  let failed = errors.length
  const skipped: string[] = []
  const read = (suite: PlaywrightSuite) => {
    for (const spec of suite.specs ?? []) {
      for (const { status } of spec.tests) {
        if (status === 'expected') passed += 1
        else if (status === 'skipped') skipped.push(`${suite.title}: ${spec.title}`)
        else failed += 1
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
  let failed = report.failed + skipped.length
  const notes = skipped.map((name) => `skipped, which counts as failed: ${name}`)
  if (passed + report.failed === 0) {
    failed += 1
    notes.push('ran no test')
  }
  if (exitCode !== 0 && failed === 0) {
    failed += 1
    notes.push(`every test passed, but the runner failed (exit code ${exitCode})`)
  }
  return { passed, failed, notes }
}
