import { describe, expect, test } from 'vitest'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { countRows, joinRows } from './endpoint-rows.ts'
import { listener } from './listener.testing.ts'

const record = (endpoint: string, ...databases: string[]) => ({ endpoint, databases })
const ONE = 'tcp://127.0.0.1:8530'

test('sorts by address, ports as numbers', () => {
  const endpoints = ['tcp://b:1', 'tcp://a:10000', 'tcp://a:9', 'ssl://z:1'].map((each) =>
    record(each),
  )
  const order = joinRows(endpoints, []).map(({ address }) => address)
  expect(order).toEqual(['ssl://z:1', 'tcp://a:9', 'tcp://a:10000', 'tcp://b:1'])
})

test('a removed endpoint is listed beside its successor until it has drained', () => {
  const rows = joinRows(
    [record(ONE, 'blog')],
    [listener(ONE, 'draining', { connections: 12 }), listener(ONE, 'listening')],
  )
  expect(
    rows.map(({ state, databases, connections }) => ({ state, databases, connections })),
  ).toEqual([
    { state: 'listening', databases: ['blog'], connections: 0 },
    { state: 'draining', databases: null, connections: 12 },
  ])
  expect(countRows(rows)).toMatchObject({ endpoints: 1, listening: 1, draining: 1, failed: 0 })
})

test('an endpoint of a node that is stopping drains, and is not removed', () => {
  expect(joinRows([record(ONE)], [listener(ONE, 'draining')])).toMatchObject([
    { id: ONE, state: 'draining', databases: [] },
  ])
})

test('a row shows the most severe state and the sum of the figures of its nodes', () => {
  const [row] = joinRows(
    [record(ONE)],
    [
      listener(ONE, 'listening', { connections: 2, lastRequest: '2026-01-01T00:00:09Z' }),
      listener(ONE, 'failed', { node: 'b', error: 'taken', revision: 7 }),
      listener(ONE, 'listening', {
        node: 'c',
        connections: 3,
        lastRequest: '2026-01-01T00:00:05Z',
      }),
    ],
  )
  expect(row).toMatchObject({
    state: 'failed',
    lead: { error: 'taken' },
    revision: 7,
    connections: 5,
    lastRequest: '2026-01-01T00:00:09Z',
  })
})

test('an endpoint without listeners is unknown, and a just removed one is not shown', () => {
  expect(joinRows([record(ONE)], [])).toMatchObject([{ state: 'unknown', revision: undefined }])
  expect(joinRows([], [listener(ONE)])).toEqual([])
})

test('reuses a row while its parts are unchanged', () => {
  const endpoints = [record(ONE), record('tcp://127.0.0.1:8531')]
  const [a, b] = [listener(ONE), listener('tcp://127.0.0.1:8531')]
  const before = joinRows(endpoints, [a, b])
  const known = new Map(before.map((row) => [row.id, row]))
  const after = joinRows(endpoints, [a, { ...b, connections: 1 }], known)
  expect(after[0]).toBe(before[0])
  expect(after[1]).not.toBe(before[1])
})

describe('an unreachable node', () => {
  const silentSince = '2026-01-01T00:00:00Z'
  const rowOf = (...listeners: ListenerStatus[]) => joinRows([record(ONE)], listeners)[0]

  test('does not affect the state, figures or revision', () => {
    const row = rowOf(
      listener(ONE, 'listening', { revision: 7, connections: 2 }),
      listener(ONE, 'listening', { node: 'b', revision: 6, connections: 40, silentSince }),
    )
    expect(row).toMatchObject({ state: 'listening', revision: 7, connections: 2 })
    expect(row?.lead?.silentSince).toBeUndefined()
    const failed = rowOf(
      listener(ONE, 'failed'),
      listener(ONE, 'listening', { node: 'b', silentSince }),
    )
    expect(failed?.state).toBe('failed')
  })

  test('determines the state if no other node serves the endpoint', () => {
    const b = listener(ONE, 'listening', { node: 'b', silentSince })
    expect(rowOf(listener(ONE, 'elsewhere'), b)).toMatchObject({
      state: 'unknown',
      lead: { node: 'b' },
    })
    expect(rowOf(b)).toMatchObject({ state: 'unknown', lead: { node: 'b' } })
  })

  test('is ignored if the endpoint ran elsewhere', () => {
    const b = listener(ONE, 'elsewhere', { node: 'b', silentSince })
    expect(rowOf(listener(ONE, 'elsewhere'), b)).toMatchObject({ state: 'elsewhere' })
  })
})
