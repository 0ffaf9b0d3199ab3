import { expect, test } from 'vitest'
import { formatJobTitle } from './format-job-result.ts'

test.each([
  ['patch', 'running', 'Changing documents'],
  ['patch', 'done', 'Documents changed'],
  ['patch', 'failed', 'Change failed'],
  ['import', 'cancelled', 'Import cancelled'],
] as const)('The title of a job to %s that is %s is %j', (kind, state, title) => {
  expect(formatJobTitle({ kind, state })).toBe(title)
})
