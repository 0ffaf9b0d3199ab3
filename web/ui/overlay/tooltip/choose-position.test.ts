import { expect, test } from 'vitest'
import { chooseSide, type Rect } from './choose-position.ts'

const view = { width: 1000, height: 600 }
const size = { width: 100, height: 24 }
const box = (left: number, top: number, width = 24, height = 24): Rect => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
})

test('a tooltip is below its element by default', () => {
  expect(chooseSide(box(400, 300), size, [], view)).toBe('bottom')
})

test.each([
  ['above: the next row has a control there', [box(400, 336)], 'top'],
  ['beside: the previous row has one too', [box(400, 336), box(400, 264)], 'right'],
  [
    'on the other side: its own row has one too',
    [box(400, 336), box(400, 264), box(440, 300)],
    'left',
  ],
  [
    'where it covers least',
    [
      box(380, 336),
      box(420, 336),
      box(400, 264),
      box(440, 300),
      box(480, 300),
      box(330, 300),
      box(360, 300),
    ],
    'top',
  ],
] as const)('it is placed %s', (_, controls, side) => {
  expect(chooseSide(box(400, 300), size, controls, view)).toBe(side)
})

test.each([
  ['the lower edge', box(400, 570), 'top'],
  ['the right edge, over the next row', box(970, 300), 'top'],
] as const)('it stays within the window at %s', (_, element, side) => {
  const below = box(element.left, element.bottom + 12)
  expect(chooseSide(element, size, [below], view)).toBe(side)
})

test('without room on any side it is below', () => {
  expect(chooseSide(box(0, 0, 1000, 600), size, [], view)).toBe('bottom')
})
