import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ListenerState } from '../../../server/contract/endpoints/listener.ts'
import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { listener } from '../model/listener.testing.ts'
import { countChanges, importWarnings, orderChanges, planImport } from './import-plan.ts'

const row = (
  address: string,
  databases: string[] | null,
  state: ListenerState = 'listening',
): EndpointRow => {
  const [made] = joinRows(
    [{ endpoint: address, databases: databases ?? [] }],
    [listener(address, state)],
  )
  if (made === undefined) throw new Error('no row')
  return { ...made, databases, state, revision: 7 }
}
const A = 'tcp://127.0.0.1:8529'
const B = 'tcp://127.0.0.1:8530'
const C = 'tcp://127.0.0.1:8531'
const want = (address: string, ...databases: string[]) => ({ address, databases })

describe('comparing a file with the configuration', () => {
  const rows = [row(A, []), row(B, ['blog', 'shop']), row(C, null, 'draining')]

  test('returns added, changed and unchanged endpoints and keeps the others', () => {
    expect(planImport([want(B, 'shop', 'blog'), want(C)], rows, false)).toEqual({
      changes: [
        {
          kind: 'changed',
          address: B,
          before: ['blog', 'shop'],
          after: ['shop', 'blog'],
          revision: 7,
        },
        { kind: 'added', address: C, before: null, after: [], revision: undefined },
      ],
      unchanged: [],
      others: [A],
    })
  })

  test('removes other endpoints only on request', () => {
    const plan = planImport([want(B, 'blog', 'shop')], rows, true)
    expect(plan.unchanged).toEqual([B])
    expect(plan.changes).toEqual([
      { kind: 'removed', address: A, before: [], after: null, revision: 7 },
    ])
  })

  test('has no changes after it was applied', () => {
    const mapping = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'c'), { maxLength: 3 })
    const list = fc.uniqueArray(
      fc.record({
        address: fc.integer({ min: 1, max: 20 }).map((port) => `tcp://127.0.0.1:${port}`),
        databases: mapping,
      }),
      { selector: ({ address }) => address },
    )
    fc.assert(
      fc.property(list, list, fc.boolean(), (wanted, now, remove) => {
        const before = now.map(({ address, databases }) => row(address, databases))
        const plan = planImport(wanted, before, remove)
        const state = new Map(now.map(({ address, databases }) => [address, databases]))
        for (const { address, after } of orderChanges(plan.changes, 'tcp://127.0.0.1:8529')) {
          if (after === null) state.delete(address)
          else state.set(address, [...after])
        }
        const then = [...state].map(([address, databases]) => row(address, databases))
        expect(planImport(wanted, then, remove).changes).toEqual([])
        expect(then).toHaveLength(
          remove ? wanted.length : before.length + countChanges(plan.changes).added,
        )
      }),
    )
  })
})

describe('comparing policies', () => {
  const time = Date.parse('2026-05-01T12:00:00Z')
  const policy = { readOnly: true }
  const ruled = { ...row(A, ['blog']), policy, policyRevision: 3 }
  const compare = (file: Policy | null | undefined, now = ruled) =>
    planImport([{ ...want(A, 'blog'), policy: file }], [now], false, time).changes

  test('an endpoint whose policy differs is changed', () => {
    const change = { kind: 'changed', address: A, before: ['blog'], after: ['blog'], revision: 7 }
    expect(compare(null)).toEqual([
      { ...change, policy: { before: policy, after: null }, policyRevision: 3 },
    ])
    expect(compare({ ...policy, note: 'x' })).toHaveLength(1)
  })

  test('a file without a policy keeps it, and the same rules need no change', () => {
    expect(compare(undefined)).toEqual([])
    expect(compare({ ...policy, enabled: true })).toEqual([])
    expect(compare({ ...policy, closesAt: '2026-05-01T11:59:00Z' })).toEqual([])
    expect(compare({ ...policy, closesAt: '2026-05-01T12:01:00Z' })).toHaveLength(1)
  })

  test('added and removed endpoints have their policies', () => {
    const wanted = { ...want(B), policy }
    const { changes } = planImport([wanted], [ruled], true, time)
    expect(changes.map((change) => change.policy)).toEqual([
      { before: null, after: policy },
      { before: policy, after: null },
    ])
  })

  test('an endpoint whose policy turns its console off is changed last', () => {
    const rows = [row(A, []), row(C, [])]
    const wanted = [{ ...want(A), policy: { enabled: false } }, want(C, 'blog')]
    const { changes } = planImport(wanted, rows, false, time)
    expect(orderChanges(changes, A).map(({ address }) => address)).toEqual([C, A])
  })
})

test('orders additions first and the endpoint of the page last', () => {
  const rows = [row(A, []), row(B, []), row(C, ['blog']), row('tcp://127.0.0.1:1', ['x'])]
  const wanted = [want(B, 'blog'), want(C, 'shop'), want('tcp://127.0.0.1:2')]
  const { changes } = planImport(wanted, rows, true)
  const order = orderChanges(changes, A).map(({ address }) => address)
  expect(order).toEqual(['tcp://127.0.0.1:2', C, B, 'tcp://127.0.0.1:1', A])
})

describe('import warnings', () => {
  const databases = ['_system', 'blog', 'shop']
  const warn = (wanted: { address: string; databases: string[] }[], rows: EndpointRow[]) =>
    importWarnings(planImport(wanted, rows, true), databases)

  test('name missing databases and endpoints with a missing default', () => {
    expect(warn([want(A, '_system', 'news')], [row(A, [])])).toEqual([
      'The database news does not exist. Requests for it will get 404.',
    ])
    expect(warn([want(A, '_system'), want(B, 'news', 'blog')], [row(A, [])])).toEqual([
      'The database news does not exist. Requests for it will get 404.',
      `The default database of ${B} does not exist. Requests there without a database name will get 404.`,
    ])
  })

  test('name new unencrypted addresses that other machines can reach', () => {
    const wanted = [
      want(A),
      want('tcp://0.0.0.0:1'),
      want('ssl://0.0.0.0:2'),
      want('tcp://[::1]:3'),
    ]
    expect(warn(wanted, [row(A, [])])).toEqual([
      'Other machines can reach tcp://0.0.0.0:1. Tokens and documents are sent unencrypted through it.',
    ])
  })
})
