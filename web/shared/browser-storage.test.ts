import { expect, test } from 'vitest'
import { createBrowserStorage } from './browser-storage.ts'

/** Returns a storage in memory, which is full with two keys. */
function createMemoryStorage(): Storage {
  const texts: Record<string, string> = {}
  const methods = {
    getItem: (key: string) => texts[key] ?? null,
    setItem: (key: string, text: string) => {
      if (Object.keys(texts).length === 2) throw new DOMException('full', 'QuotaExceededError')
      texts[key] = text
    },
    removeItem: (key: string) => {
      delete texts[key]
    },
  }
  const hidden = Object.entries(methods).map(([name, value]) => [name, { value }])
  return Object.defineProperties(texts, Object.fromEntries(hidden)) as unknown as Storage
}

test('texts and JSON are stored and removed', () => {
  const memory = createMemoryStorage()
  const storage = createBrowserStorage(() => memory)
  expect(storage.set('text', 'a')).toBe(true)
  expect(storage.set('json', '[1]')).toBe(true)
  expect(storage.keys()).toEqual(['text', 'json'])
  expect([storage.get('text'), storage.getJson('text')]).toEqual(['a', undefined])
  expect(storage.getJson('json')).toEqual([1])
  expect(storage.remove('text')).toBe(true)
  expect([storage.get('text'), storage.getJson('text')]).toEqual([undefined, undefined])
})

test('a full storage keeps what it has', () => {
  const memory = createMemoryStorage()
  const storage = createBrowserStorage(() => memory)
  storage.set('a', '1')
  storage.set('b', '2')
  expect(storage.set('c', '3')).toBe(false)
  expect([storage.get('a'), storage.get('c')]).toEqual(['1', undefined])
})

test('a blocked storage is empty', () => {
  const storage = createBrowserStorage(() => {
    throw new DOMException('blocked', 'SecurityError')
  })
  expect([storage.set('a', '1'), storage.remove('a')]).toEqual([false, false])
  expect([storage.get('a'), storage.getJson('a')]).toEqual([undefined, undefined])
  expect(storage.keys()).toEqual([])
})
