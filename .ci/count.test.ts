import { describe, expect, test } from 'vitest'
import { countCheck, countTests, type Report, summarize } from './count.ts'
import type { TestEvent, TestStatus } from './test-events.ts'

const started = (id: string): TestEvent => ({ type: 'started', id, title: `a: ${id}` })
const ended = (id: string, status: TestStatus, error?: string): TestEvent => ({
  type: 'ended',
  id,
  title: `a: ${id}`,
  status,
  error,
})

describe('the summary of a run', () => {
  test('counts tests, and names those that failed or were skipped', () => {
    const report = summarize([
      started('x'),
      ended('x', 'passed'),
      started('y'),
      ended('y', 'failed', '\u001b[31mError: no\u001b[39m\n    at a.ts:1'),
      ended('z', 'skipped'),
    ])
    expect(report).toEqual({
      passed: 1,
      flaky: [],
      failed: ['a: y – Error: no'],
      skipped: ['a: z'],
      running: [],
      notStarted: 0,
    })
  })

  test('takes the last result of a test that was repeated', () => {
    expect(summarize([ended('x', 'failed'), ended('x', 'failed')])).toMatchObject({
      passed: 0,
      failed: ['a: x'],
    })
  })

  test('counts a test that passed when it was repeated as passed, and names it as flaky', () => {
    const report = summarize([
      started('x'),
      ended('x', 'failed', 'Error: late'),
      started('x'),
      ended('x', 'flaky', 'Error: late'),
      ended('y', 'passed'),
    ])
    expect(report).toMatchObject({ passed: 2, flaky: ['a: x – Error: late'], failed: [] })
    expect(countTests(0, report)).toEqual({
      passed: 2,
      failed: 0,
      notes: ['flaky: a: x – Error: late'],
    })
  })

  test('counts an error outside of any test as failed', () => {
    const { failed } = summarize([{ type: 'failed', title: 'b.ts', error: 'no such file' }])
    expect(failed).toEqual(['b.ts – no such file'])
  })

  test('names the tests that were running when the run was stopped, and counts the others', () => {
    const report = summarize([
      { type: 'planned', tests: 5 },
      started('x'),
      ended('x', 'passed'),
      started('y'),
      started('z'),
    ])
    expect(report).toMatchObject({ passed: 1, running: ['a: y', 'a: z'], notStarted: 2 })
  })
})

describe('counting a stage', () => {
  test('counts a check as one test', () => {
    expect(countCheck(0, 'a warning\n')).toEqual({ passed: 1, failed: 0, notes: [] })
    const lines = Array.from({ length: 20 }, (_, n) => `\u001b[31mline ${n}\u001b[39m\n`)
    expect(countCheck(2, lines.join('\n'))).toEqual({
      passed: 0,
      failed: 1,
      notes: ['failed with exit code 2', ...Array.from({ length: 12 }, (_, n) => `line ${n + 8}`)],
    })
  })

  const none: Report = { passed: 0, flaky: [], failed: [], skipped: [], running: [], notStarted: 0 }
  test.each<[string, number, Report | undefined, { passed: number; failed: number }]>([
    ['all passed', 0, { ...none, passed: 3 }, { passed: 3, failed: 0 }],
    ['some failed', 1, { ...none, passed: 3, failed: ['x', 'y'] }, { passed: 3, failed: 2 }],
    ['the runner crashed after its tests', 1, { ...none, passed: 3 }, { passed: 3, failed: 1 }],
    ['the runner left no report', 0, undefined, { passed: 0, failed: 1 }],
    ['no test ran', 0, none, { passed: 0, failed: 1 }],
    ['a test was skipped', 0, { ...none, passed: 3, skipped: ['x'] }, { passed: 3, failed: 1 }],
    ['every test was skipped', 0, { ...none, skipped: ['x', 'y'] }, { passed: 0, failed: 3 }],
    ['it was stopped', 124, { ...none, passed: 158, notStarted: 9 }, { passed: 158, failed: 1 }],
    [
      'it was stopped after a test had failed',
      124,
      { ...none, passed: 158, failed: ['x'], running: ['y'] },
      { passed: 158, failed: 2 },
    ],
    ['a test did not end', 0, { ...none, passed: 3, running: ['x'] }, { passed: 3, failed: 1 }],
  ])('where %s', (_, exitCode, report, expected) => {
    expect(countTests(exitCode, report)).toMatchObject(expected)
  })

  test('says which tests failed, were skipped and were running', () => {
    const report = { passed: 1, flaky: [], failed: ['a: y'], skipped: ['a: x'], running: ['a: z'] }
    expect(countTests(124, { ...report, notStarted: 4 }).notes).toEqual([
      'failed: a: y',
      'skipped, which counts as failed: a: x',
      'did not finish (exit code 124): 1 tests were running and 4 had not started, which counts as one failed',
      'was running: a: z',
    ])
  })
})
