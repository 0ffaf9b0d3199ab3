import { expect, test } from 'vitest'
import type { ListenerState } from '../../server/contract/listener.ts'
import { listener } from './listener.testing.ts'
import { putRight } from './put-right.ts'

const A = 'tcp://127.0.0.1:1'
const B = 'tcp://127.0.0.1:2'

/** The moment counts in seconds: a node is judged by its own clock. */
const at = (endpoint: string, state: ListenerState, second: number, node = 'a') =>
  listener(endpoint, state, { node, since: new Date(second * 1_000).toISOString() })

test('what was read in another state is put right, and nothing else', () => {
  const known = [at(A, 'listening', 1), at(B, 'listening', 1)]
  const read = [at(A, 'failed', 2), at(B, 'listening', 1)]
  const right = putRight(known, [A, B], read)
  expect(right).toEqual([read[0], known[1]])
  expect(right[1]).toBe(known[1])
  expect(putRight(known, [A], [at(A, 'listening', 1)])).toBe(known)
  expect(putRight(known, [A], [])).toEqual([known[1]])
  const left = { ...at(A, 'draining', 2), connections: 1 }
  expect(putRight([{ ...left, connections: 2 }], [A], [left])).toEqual([left])
})

test('a reading from before the last change of a node changes nothing', () => {
  const drains = [at(A, 'draining', 5)]
  expect(putRight(drains, [A], [at(A, 'listening', 1)])).toBe(drains)
  // Added again while the first one drains: the newest counts.
  const both = [at(A, 'listening', 6), at(A, 'draining', 5)]
  expect(putRight(both, [A], drains)).toBe(both)
  expect(putRight(drains, [A], both)).toEqual(both)
  // Nodes are judged each by its own clock.
  const two = [at(A, 'draining', 5), at(A, 'draining', 900, 'b')]
  const fresh = [at(A, 'draining', 5), at(A, 'failed', 901, 'b')]
  expect(putRight(two, [A], fresh)).toEqual(fresh)
})

test('a node that fell silent is seen to have', () => {
  const known = [at(A, 'listening', 1)]
  const silent = known.map((each) => ({ ...each, silentSince: new Date(9_000).toISOString() }))
  expect(putRight(known, [A], silent)).toEqual(silent)
})
