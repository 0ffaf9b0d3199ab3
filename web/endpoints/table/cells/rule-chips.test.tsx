import { expect, test } from 'vitest'
import { labelRules } from '../../../policy/rule-labels.ts'
import { countFitting } from './rule-chips.tsx'

test.each([
  [{ readOnly: true }, 152, 1],
  [{ readOnly: true, cors: { origins: ['*'] } }, 152, 2],
  [{ readOnly: true, anonymous: { read: true as const } }, 152, 1],
  [{ enabled: false, readOnly: true, maxConnections: 5 }, 152, 2],
  [{ enabled: false, readOnly: true, maxConnections: 5 }, 96, 1],
  [{}, 152, 0],
])('of the rules of %j, in %d px, %d fit', (policy, room, count) => {
  expect(countFitting(labelRules(policy, 0), room)).toBe(count)
})
