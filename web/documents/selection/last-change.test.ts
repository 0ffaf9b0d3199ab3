import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MIN_AFTER_PAUSE_MS, UNDO_MS } from '../../shared/ui/overlay/undo-countdown.ts'
import type { SelectionOutcome } from './change-selected.ts'
import { createLastChange } from './last-change.ts'

const ARTICLES = { database: 'blog', collection: 'articles' }

const outcome = (
  verb: SelectionOutcome['verb'],
  done: readonly string[],
  failed: readonly string[] = [],
): SelectionOutcome => ({
  verb,
  changes: done.map((id) => ({ before: { id, json: '{}', etag: '"a"' }, after: undefined })),
  failures: failed.map((id) => ({ id, reason: 'Out of service.', isUnknown: false })),
  gone: 0,
})

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a change can be undone for ten seconds, without a page that shows it', () => {
  const store = createLastChange()
  store.show(ARTICLES, outcome('deleted', ['a']))
  vi.advanceTimersByTime(UNDO_MS - 1)
  expect(store.current()).toMatchObject({ collectionRef: ARTICLES, stage: 'made' })
  vi.advanceTimersByTime(1)
  expect(store.current()).toBeUndefined()
  store.resume()
  expect(store.begin()).toBeUndefined()
})

test('the offer does not expire while the undo runs, and its outcome disappears soon', () => {
  const store = createLastChange()
  store.show(ARTICLES, outcome('deleted', ['a']))
  const undone = store.begin()
  expect(undone?.changes.map(({ before }) => before.id)).toEqual(['a'])
  expect(store.begin()).toBeUndefined()
  store.pause()
  store.resume()
  vi.advanceTimersByTime(2 * UNDO_MS)
  expect(store.current()?.stage).toBe('undoing')
  if (undone !== undefined) store.end(undone, outcome('restored', ['a']))
  expect(store.current()).toMatchObject({ stage: 'undone', changes: [] })
  vi.advanceTimersByTime(MIN_AFTER_PAUSE_MS)
  expect(store.current()).toBeUndefined()
})

test('failures stay until they are dismissed, and only they are undone again', () => {
  const store = createLastChange()
  store.show(ARTICLES, outcome('deleted', ['a', 'b']))
  const undone = store.begin()
  if (undone !== undefined) store.end(undone, outcome('restored', ['a'], ['b']))
  store.resume()
  vi.advanceTimersByTime(2 * UNDO_MS)
  expect(store.begin()?.changes.map(({ before }) => before.id)).toEqual(['b'])
  store.dismiss()
  expect(store.current()).toBeUndefined()
})

test('a change made during an undo is not replaced by its outcome', () => {
  const store = createLastChange()
  store.show(ARTICLES, outcome('deleted', ['a']))
  const undone = store.begin()
  store.show(ARTICLES, outcome('deleted', ['b']))
  if (undone !== undefined) store.end(undone, outcome('restored', ['a']))
  expect(store.current()).toMatchObject({ stage: 'made', outcome: { verb: 'deleted' } })
})
