import { expect, test } from 'vitest'
import { labelRules } from '../../../policy/rule-labels.ts'
import { countFitting } from './rule-chips.tsx'

test.each([
  [{ readOnly: true }, 168, 1],
  [{ readOnly: true, cors: { origins: ['*'] } }, 168, 2],
  [{ readOnly: true, anonymous: { read: true as const } }, 168, 1],
  [{ enabled: false, readOnly: true, maxConnections: 5 }, 168, 2],
  [{ enabled: false, readOnly: true, maxConnections: 5 }, 120, 1],
  [{}, 168, 0],
])('of the rules of %j, in %d px, %d fit', (policy, room, count) => {
  expect(countFitting(labelRules(policy, 0), room)).toBe(count)
})
