import type {
  FullConfig,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult,
} from '@playwright/test/reporter'
import { writeEvent } from './test-events.ts'

// The first two parts are an empty string and the name of the project.
const titleOf = (test: TestCase) => test.titlePath().slice(2).join(': ')

/** Appends Playwright's test events to the events file. */
export default class PlaywrightReporter implements Reporter {
  onBegin(_: FullConfig, suite: Suite): void {
    writeEvent({ type: 'planned', tests: suite.allTests().length })
  }

  onTestBegin(test: TestCase): void {
    writeEvent({ type: 'started', id: test.id, title: titleOf(test) })
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const outcome = test.outcome()
    writeEvent({
      type: 'ended',
      id: test.id,
      title: titleOf(test),
      // A test that passes only on a retry is `flaky`, which counts as failed.
      status: outcome === 'expected' ? 'passed' : outcome === 'skipped' ? 'skipped' : 'failed',
      error: result.error?.message,
    })
  }

  onError(error: TestError): void {
    writeEvent({ type: 'failed', title: 'outside of any test', error: error.message })
  }

  printsToStdio(): boolean {
    return false
  }
}
