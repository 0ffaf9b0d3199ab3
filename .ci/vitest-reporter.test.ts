import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import type { TestCase } from 'vitest/node'
import { EVENTS_VARIABLE, readEvents } from './test-events.ts'
import VitestReporter from './vitest-reporter.ts'

/** Returns the events that the reporter writes. */
function report(flaky: boolean, order: readonly ('ready' | 'result')[]) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-events-')), 'events.jsonl')
  vi.stubEnv(EVENTS_VARIABLE, file)
  const test = {
    id: 'one',
    fullName: 'one',
    module: { relativeModuleId: 'one.test.ts' },
    result: () => ({ state: 'passed', errors: flaky ? [{ message: 'late' }] : undefined }),
    diagnostic: () => ({ flaky }),
  } as unknown as TestCase
  const reporter = new VitestReporter()
  for (const event of order) {
    if (event === 'ready') reporter.onTestCaseReady(test)
    else reporter.onTestCaseResult(test)
  }
  vi.unstubAllEnvs()
  return readEvents(file)
}

it('counts a test as ended if Vitest reports its start afterwards', () => {
  expect(report(false, ['result', 'ready'])?.map(({ type }) => type)).toEqual(['ended'])
})

it('reports a test that passed when it was repeated as flaky, with its first error', () => {
  expect(report(true, ['ready', 'result'])?.[1]).toMatchObject({ status: 'flaky', error: 'late' })
})
