import { expect, test } from 'vitest'
import { bulkChange } from './bulk-change.testing.ts'
import { wasOwnChangeMade } from './bulk-outcome.ts'

const HERE = 'tcp://127.0.0.1:8529'
const removal = { address: HERE, after: null }
const mapping = { address: HERE, after: ['blog'] }
const none = new Map<string, string>()
const failed = (...addresses: string[]) =>
  new Map(addresses.map((address) => [address, 'The endpoint has been changed.']))

test.each([
  ['all changes were made', bulkChange(), none, removal, true],
  ['the server is unreachable', undefined, none, removal, true],
  ['it failed', bulkChange({ made: 99, failed: 1 }), failed(HERE), removal, false],
  ['another one failed', bulkChange({ made: 99, failed: 1 }), failed('tcp://a:1'), removal, true],
  ['the failures are unknown', bulkChange({ made: 99, failed: 1 }), undefined, removal, true],
  ['it was cancelled', bulkChange({ state: 'cancelled', made: 9, left: 91 }), none, removal, false],
  ['it was stopped', bulkChange({ state: 'stopped', made: 9, left: 91 }), none, mapping, false],
  [
    'removals were skipped after a failure',
    bulkChange({ made: 98, failed: 1, left: 1 }),
    failed('tcp://a:1'),
    removal,
    false,
  ],
  [
    'other endpoints were not removed after a failure',
    bulkChange({ made: 98, failed: 1, left: 1 }),
    failed('tcp://a:1'),
    mapping,
    true,
  ],
])('whether the change of the own endpoint was made if %s', (_, view, failures, own, wasMade) => {
  expect(wasOwnChangeMade({ view, failures }, own)).toBe(wasMade)
})
