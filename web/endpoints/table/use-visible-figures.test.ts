import { expect, test } from 'vitest'
import type { ListenerState } from '../../../server/contract/endpoints/listener.ts'
import { listener } from '../model/listener.testing.ts'
import { reconcile } from './use-visible-figures.ts'

const A = 'tcp://127.0.0.1:1'
const B = 'tcp://127.0.0.1:2'

/** Returns a listener whose state began at a given second of its node's clock. */
const at = (endpoint: string, state: ListenerState, second: number, node = 'a') =>
  listener(endpoint, state, { node, since: new Date(second * 1_000).toISOString() })

test('listeners of outdated states are refetched, and no others', () => {
  const known = [at(A, 'listening', 1), at(B, 'listening', 1)]
  const read = [at(A, 'failed', 2), at(B, 'listening', 1)]
  const right = reconcile(known, [A, B], read)
  expect(right).toEqual([read[0], known[1]])
  expect(right[1]).toBe(known[1])
  expect(reconcile(known, [A], [at(A, 'listening', 1)])).toBe(known)
  expect(reconcile(known, [A], [])).toEqual([known[1]])
  const left = { ...at(A, 'draining', 2), connections: 1 }
  expect(reconcile([{ ...left, connections: 2 }], [A], [left])).toEqual([left])
})

test('a response older than the last change of a node is ignored', () => {
  const drains = [at(A, 'draining', 5)]
  expect(reconcile(drains, [A], [at(A, 'listening', 1)])).toBe(drains)
  // The endpoint was added again while the old listener drains; the newest state counts.
  const both = [at(A, 'listening', 6), at(A, 'draining', 5)]
  expect(reconcile(both, [A], drains)).toBe(both)
  expect(reconcile(drains, [A], both)).toEqual(both)
  // Times are compared per node, because clocks differ.
  const two = [at(A, 'draining', 5), at(A, 'draining', 900, 'b')]
  const fresh = [at(A, 'draining', 5), at(A, 'failed', 901, 'b')]
  expect(reconcile(two, [A], fresh)).toEqual(fresh)
})

test('an unreachable node is detected', () => {
  const known = [at(A, 'listening', 1)]
  const silent = known.map((each) => ({ ...each, silentSince: new Date(9_000).toISOString() }))
  expect(reconcile(known, [A], silent)).toEqual(silent)
})
