import { describe, expect, it } from 'vitest'
import { preferenceOf } from './prefer.ts'

describe('preferenceOf', () => {
  it.each<[string, string, string | undefined]>([
    ['respond-async', 'respond-async', ''],
    ['Respond-Async ; wait=5', 'respond-async', ''],
    ['respond-async=""', 'respond-async', ''],
    ['respond-asynchronously', 'respond-async', undefined],
    ['wait=10, count = "exact"; x="," , return=minimal', 'count', 'exact'],
    ['wait=10, count = "exact"; x="," , return=minimal', 'return', 'minimal'],
    ['count=none, count=exact', 'count', 'none'],
    ['count=exact, count=none', 'count', 'exact'],
    ['count, count=exact', 'count', ''],
    ['x="a, count=exact"', 'count', undefined],
    ['x="\\", count=exact"', 'count', undefined],
    ['x; count=exact', 'count', undefined],
    ['count="ex\\act"', 'count', 'exact'],
    ['count="', 'count', '"'],
    [',, ;, count=exact', 'count', 'exact'],
    ['', 'count', undefined],
  ])('reads from %j the preference %s: %j', (header, name, value) => {
    expect(preferenceOf(header, name)).toBe(value)
  })
})
