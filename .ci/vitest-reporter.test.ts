import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import type { TestCase } from 'vitest/node'
import { EVENTS_VARIABLE, readEvents } from './test-events.ts'
import VitestReporter from './vitest-reporter.ts'

it('counts a test as ended if Vitest reports its start afterwards', () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'gatehouse-events-')), 'events.jsonl')
  vi.stubEnv(EVENTS_VARIABLE, file)
  const test = {
    id: 'one',
    fullName: 'one',
    module: { relativeModuleId: 'one.test.ts' },
    result: () => ({ state: 'passed', errors: undefined }),
  } as unknown as TestCase
  const reporter = new VitestReporter()
  reporter.onTestCaseResult(test)
  reporter.onTestCaseReady(test)
  vi.unstubAllEnvs()
  expect(readEvents(file)?.map(({ type }) => type)).toEqual(['ended'])
})
