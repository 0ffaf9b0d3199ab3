import { expect, test } from 'vitest'
import { createRangeMatch, isIpRange } from './ip-ranges.ts'

test.each([
  ['::/0', '192.0.2.1', false],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['192.0.2.0/24', '::ffff:192.0.2.9', true],
  ['192.0.2.0/24', '::ffff:c000:209', true],
  ['::ffff:192.0.2.0/120', '192.0.2.9', true],
  ['::ffff:192.0.2.0/120', '192.0.3.9', false],
  ['2001:db8::/32', '2001:0DB8:0:0::1', true],
])('%s includes %s: %j', (range, address, isIncluded) => {
  expect(createRangeMatch([range])(address)).toBe(isIncluded)
})

test.each([
  ['192.0.2.1', true],
  ['2001:db8::/32', true],
  ['192.0.2.0/33', false],
  ['192.0.2.0/', false],
  ['192.0.2.0/8/8', false],
  ['::ffff:192.0.2.0/64', false],
  ['fe80::1%eth0', false],
  ['example.org', false],
])('%s is a range: %j', (text, isRange) => {
  expect(isIpRange(text)).toBe(isRange)
})
