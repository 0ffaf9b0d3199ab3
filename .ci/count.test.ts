import { describe, expect, test } from 'vitest'
import { countCheck, countTests, readPlaywright, readVitest } from './count.ts'

const assertion = (fullName: string, status: string) => ({ fullName, status })
const spec = (title: string, ...statuses: string[]) => ({
  title,
  tests: statuses.map((status) => ({ status })),
})

describe("Vitest's report", () => {
  test('counts tests over all files', () => {
    const report = readVitest({
      testResults: [
        {
          name: 'a',
          status: 'failed',
          assertionResults: [
            assertion('x', 'passed'),
            { ...assertion('y', 'failed'), failureMessages: ['Error: no\n    at a.ts:1'] },
          ],
        },
        { name: 'b', status: 'passed', assertionResults: [assertion('z', 'passed')] },
      ],
    })
    expect(report).toEqual({ passed: 2, failed: ['a: y – Error: no'], skipped: [] })
  })

  test('counts a file that could not be loaded as one failed test', () => {
    const report = readVitest({
      testResults: [{ name: 'a', status: 'failed', assertionResults: [] }],
    })
    expect(report).toEqual({ passed: 0, failed: ['a'], skipped: [] })
  })

  test.each(['skipped', 'pending', 'todo', 'disabled'])('names a test that is %s', (status) => {
    const report = readVitest({
      testResults: [{ name: 'a', status: 'passed', assertionResults: [assertion('x', status)] }],
    })
    expect(report).toEqual({ passed: 0, failed: [], skipped: ['a: x'] })
  })
})

describe("Playwright's report", () => {
  test('counts tests in nested suites, and a flaky one as failed', () => {
    const report = readPlaywright({
      suites: [
        {
          title: 'a.spec.ts',
          specs: [spec('one', 'expected', 'unexpected')],
          suites: [{ title: 'inner', specs: [spec('two', 'flaky'), spec('three', 'skipped')] }],
        },
      ],
    })
    expect(report).toEqual({
      passed: 1,
      failed: ['a.spec.ts: one', 'inner: two'],
      skipped: ['inner: three'],
    })
  })

  test('counts an error outside of any test as failed', () => {
    const { failed } = readPlaywright({ suites: [], errors: [{ message: 'no such file' }] })
    expect(failed).toEqual(['outside of any test: no such file'])
  })
})

describe('counting a stage', () => {
  test('a check is one test', () => {
    expect(countCheck(0)).toMatchObject({ passed: 1, failed: 0 })
    expect(countCheck(2)).toMatchObject({ passed: 0, failed: 1 })
  })

  test.each([
    ['all passed', 0, { passed: 3, failed: [], skipped: [] }, { passed: 3, failed: 0 }],
    ['some failed', 1, { passed: 3, failed: ['x', 'y'], skipped: [] }, { passed: 3, failed: 2 }],
    [
      'the runner crashed after its tests',
      1,
      { passed: 3, failed: [], skipped: [] },
      { passed: 3, failed: 1 },
    ],
    ['the runner left no report', 0, undefined, { passed: 0, failed: 1 }],
    ['no test ran', 0, { passed: 0, failed: [], skipped: [] }, { passed: 0, failed: 1 }],
    ['a test was skipped', 0, { passed: 3, failed: [], skipped: ['x'] }, { passed: 3, failed: 1 }],
    [
      'every test was skipped',
      0,
      { passed: 0, failed: [], skipped: ['x', 'y'] },
      { passed: 0, failed: 3 },
    ],
  ])('where %s', (_, exitCode, report, expected) => {
    expect(countTests(exitCode, report)).toMatchObject(expected)
  })

  test('says which tests failed, and which were skipped', () => {
    const { notes } = countTests(1, { passed: 1, failed: ['a: y'], skipped: ['a: x'] })
    expect(notes).toEqual(['failed: a: y', 'skipped, which counts as failed: a: x'])
  })
})
