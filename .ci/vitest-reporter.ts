import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { writeEvent } from './test-events.ts'

const titleOf = (test: TestCase) => `${test.module.relativeModuleId}: ${test.fullName}`

function writeErrors(title: string, suite: TestSuite | TestModule): void {
  for (const { message } of suite.errors()) writeEvent({ type: 'failed', title, error: message })
}

/** Appends Vitest's test events to the events file. */
export default class VitestReporter implements Reporter {
  readonly #ended = new Set<string>()

  onTestCaseReady(test: TestCase): void {
    // Vitest awaits other reporters between events, and can report a start after the end.
    if (this.#ended.has(test.id)) return
    writeEvent({ type: 'started', id: test.id, title: titleOf(test) })
  }

  onTestCaseResult(test: TestCase): void {
    this.#ended.add(test.id)
    const { state, errors } = test.result()
    const status = test.diagnostic()?.flaky ? 'flaky' : state
    writeEvent({
      type: 'ended',
      id: test.id,
      title: titleOf(test),
      status: status === 'pending' ? 'skipped' : status,
      error: errors?.[0]?.message,
    })
  }

  onTestSuiteResult(suite: TestSuite): void {
    writeErrors(`${suite.module.relativeModuleId}: ${suite.fullName}`, suite)
  }

  onTestModuleEnd(module: TestModule): void {
    writeErrors(module.relativeModuleId, module)
  }

  onTestRunEnd(_: unknown, unhandled: readonly { readonly message: string }[]): void {
    for (const { message } of unhandled) {
      writeEvent({ type: 'failed', title: 'outside of any test', error: message })
    }
  }
}
