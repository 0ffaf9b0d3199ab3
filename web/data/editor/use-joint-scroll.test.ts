import { expect, test } from 'vitest'
import { scaleScroll } from './use-joint-scroll.ts'

test('A part is scrolled by the same share of its height, and to its end with the other', () => {
  const from = { scrollHeight: 500, clientHeight: 100 }
  const to = { scrollHeight: 300, clientHeight: 100 }
  expect(scaleScroll({ ...from, scrollTop: 0 }, to)).toBe(0)
  expect(scaleScroll({ ...from, scrollTop: 200 }, to)).toBe(100)
  expect(scaleScroll({ ...from, scrollTop: 400 }, to)).toBe(200)
})

test('Parts without a scroll bar stay at their beginning', () => {
  const fits = { scrollTop: 0, scrollHeight: 100, clientHeight: 100 }
  expect(scaleScroll(fits, { scrollHeight: 300, clientHeight: 100 })).toBe(0)
})
