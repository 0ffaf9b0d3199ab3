import type {
  FullConfig,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult,
} from '@playwright/test/reporter'
import { type TestStatus, writeEvent } from './test-events.ts'

// The first two parts are an empty string and the name of the project.
const titleOf = (test: TestCase) => test.titlePath().slice(2).join(': ')

const STATUSES: Record<ReturnType<TestCase['outcome']>, TestStatus> = {
  expected: 'passed',
  unexpected: 'failed',
  flaky: 'flaky',
  skipped: 'skipped',
}

/** Appends Playwright's test events to the events file. */
export default class PlaywrightReporter implements Reporter {
  onBegin(_: FullConfig, suite: Suite): void {
    writeEvent({ type: 'planned', tests: suite.allTests().length })
  }

  onTestBegin(test: TestCase): void {
    writeEvent({ type: 'started', id: test.id, title: titleOf(test) })
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    writeEvent({
      type: 'ended',
      id: test.id,
      title: titleOf(test),
      status: STATUSES[test.outcome()],
      // A passed attempt has no error, so a flaky test has the error of its first attempt.
      error: (result.error ?? test.results[0]?.error)?.message,
    })
  }

  onError(error: TestError): void {
    writeEvent({ type: 'failed', title: 'outside of any test', error: error.message })
  }

  printsToStdio(): boolean {
    return false
  }
}
