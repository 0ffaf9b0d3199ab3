import { expect, test } from 'vitest'
import { PAGE, PAGE_BYTES } from '../../contract/document.ts'
import { compareCodePoints } from '../../contract/query/compare-code-points.ts'
import type { Position } from '../query/order.ts'
import { TopDocuments } from './sorted-matches.ts'

const COUNT = 200
/** Two documents fit on a page, and a third one does not. */
const text = 'x'.repeat(0.4 * PAGE_BYTES)
const idOf = (n: number) => `d${1_000 + n}`
const ids = Array.from({ length: COUNT }, (_, n) => idOf(n))

test.each([
  ['ascending', ids],
  ['descending', ids.toReversed()],
])('holds about a page of large documents that are offered in %s order', (order, offered) => {
  let compared = new Set<string>()
  const top = new TopDocuments((one: Position, other: Position) => {
    compared.add(one.id).add(other.id)
    return compareCodePoints(one.id, other.id)
  }, PAGE.max)
  let made = 0
  for (const id of offered) {
    compared = new Set()
    top.offer({ values: [], id }, () => {
      made++
      return { id, tag: '', text }
    })
  }
  const { documents, next } = top.page()
  expect(documents.map(({ id }) => id)).toEqual([idOf(0), idOf(1)])
  expect(next?.id).toBe(idOf(1))
  // It compares a document with those that it holds, and makes only those that may be on the page.
  expect([...compared].filter((id) => id > idOf(3))).toEqual(
    order === 'ascending' ? [offered.at(-1)] : [],
  )
  expect(made).toBe(order === 'ascending' ? 3 : COUNT)
})
