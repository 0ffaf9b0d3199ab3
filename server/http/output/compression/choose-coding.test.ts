import { expect, it } from 'vitest'
import { chooseCoding } from './choose-coding.ts'

it.each([
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'zstd'],
  ['zstd;q=0, *', 'br'],
  ['zstd;q=0.1, br;q=0.2, gzip;q=0.9', 'gzip'],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['gzip;q=0.5, identity', undefined],
  ['gzip;q=0', undefined],
  ['*;q=0', undefined],
  ['identity;q=0', undefined],
  ['deflate, compress', undefined],
  ['', undefined],
  [',,;q=,=;"', undefined],
])('for %j chooses %s', (header, coding) => {
  expect(chooseCoding(header)).toBe(coding)
})
