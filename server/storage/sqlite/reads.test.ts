import type { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { ReadSnapshot } from './reads.ts'

test('has no version after a failed read of it', () => {
  const readVersion = () => {
    if (failing) throw new Error('disk I/O error')
    return { data_version: 1 }
  }
  let failing = false
  const reader = { isOpen: true, prepare: () => ({ run() {}, get: readVersion }) }
  const snapshot = new ReadSnapshot(reader as unknown as DatabaseSync)
  expect(snapshot.begin()).toBe(1)
  snapshot.end()
  failing = true
  expect(() => snapshot.begin()).toThrow('disk I/O error')
  expect(snapshot.begin()).toBeUndefined()
  snapshot.end()
  failing = false
  expect(snapshot.begin()).toBe(1)
})
