import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ListenerState } from '../../../server/contract/endpoints/listener.ts'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { listener } from '../model/listener.testing.ts'
import { orderChanges } from './import-order.ts'
import { countChanges, planImport } from './import-plan.ts'
import { importWarnings } from './import-warnings.ts'

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

describe('comparing a file with what is configured', () => {
  const rows = [row(A, []), row(B, ['blog', 'shop']), row(C, null, 'draining')]

  test('tells what is added, changed and unchanged; what is not named stays', () => {
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

  test('removes what is not named only where that is asked for', () => {
    const plan = planImport([want(B, 'blog', 'shop')], rows, true)
    expect(plan.unchanged).toEqual([B])
    expect(plan.changes).toEqual([
      { kind: 'removed', address: A, before: [], after: null, revision: 7 },
    ])
  })

  test('carried out, it leaves nothing to do', () => {
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
        for (const { address, after } of orderChanges(plan.changes, undefined)) {
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

test('what opens ways comes first, and the way of this page closes last', () => {
  const rows = [row(A, []), row(B, []), row(C, ['blog']), row('tcp://127.0.0.1:1', ['x'])]
  const wanted = [want(B, 'blog'), want(C, 'shop'), want('tcp://127.0.0.1:2')]
  const { changes } = planImport(wanted, rows, true)
  const order = orderChanges(changes, A).map(({ address }) => address)
  expect(order).toEqual(['tcp://127.0.0.1:2', C, B, 'tcp://127.0.0.1:1', A])
})

describe('what an import warns of', () => {
  const databases = ['_system', 'blog', 'shop']
  const warn = (wanted: { address: string; databases: string[] }[], rows: EndpointRow[]) =>
    importWarnings(planImport(wanted, rows, true), databases)

  test('databases that do not exist, and endpoints whose default does not', () => {
    expect(warn([want(A, '_system', 'news')], [row(A, [])])).toEqual([
      'The database news does not exist yet. Requests for it get 404.',
    ])
    expect(warn([want(A, '_system'), want(B, 'news', 'blog')], [row(A, [])])).toEqual([
      'The database news does not exist yet. Requests for it get 404.',
      `The default database of ${B} does not exist yet. Requests there that name no database get 404.`,
    ])
  })

  test('new addresses that other machines reach without encryption', () => {
    const wanted = [
      want(A),
      want('tcp://0.0.0.0:1'),
      want('ssl://0.0.0.0:2'),
      want('tcp://[::1]:3'),
    ]
    expect(warn(wanted, [row(A, [])])).toEqual([
      'Other machines can reach tcp://0.0.0.0:1. Tokens and documents travel unencrypted through it.',
    ])
  })
})
