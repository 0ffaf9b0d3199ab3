import { describe, expect, test } from 'vitest'
import type { ListenerState } from '../../server/contract/listener.ts'
import { type EndpointRow, joinRows } from './endpoint-rows.ts'
import { listener } from './listener.testing.ts'
import { judgeRemoval, sayCutOff } from './removal.ts'

const row = (
  port: number,
  databases: string[],
  state: ListenerState = 'listening',
  connections = 0,
): EndpointRow => {
  const address = `tcp://127.0.0.1:${port}`
  const [made] = joinRows(
    [{ endpoint: address, databases }],
    [listener(address, state, { connections })],
  )
  if (made === undefined) throw new Error('no row')
  return made
}
const judge = (rows: EndpointRow[], more: Partial<Parameters<typeof judgeRemoval>[0]> = {}) => {
  const [first] = rows
  if (first === undefined) throw new Error('no row')
  return judgeRemoval({
    row: first,
    rows,
    databases: ['_system', 'blog', 'shop'],
    here: undefined,
    drainSeconds: 30,
    ...more,
  })
}
const admin = row(8529, [])

describe('before an endpoint is removed', () => {
  test('it says how many connections are open, and what is then out of reach', () => {
    const { consequences } = judge([row(8530, ['shop'], 'listening', 12), row(8529, ['_system'])])
    expect(consequences).toEqual([
      'New connections are refused at once; the 12 open ones get 30 s to finish.',
      'No other endpoint reaches shop.',
    ])
  })

  test('what another reaches is not missed, unless that one has failed', () => {
    const shop = row(8530, ['shop', 'blog'])
    expect(judge([shop, admin]).consequences).toHaveLength(1)
    const left = judge([shop, row(8531, [], 'failed'), row(8529, ['_system'])])
    expect(left.consequences).toContain('No other endpoint reaches shop or blog.')
  })

  test('of many names that nothing else reaches, some are told', () => {
    const names = Array.from({ length: 40 }, (_, at) => `n${at}`)
    const { consequences } = judge([row(8530, names), row(8529, ['_system'])])
    expect(consequences.at(-1)).toBe(
      'No other endpoint reaches n0, n1, n2, n3, n4, n5, n6, n7 or 32 more.',
    )
  })

  test('one that is not open cuts nobody', () => {
    const { consequences } = judge([row(8530, ['shop'], 'failed'), admin])
    expect(consequences).toEqual(['It is not open, so no connection is cut.'])
  })

  test('the last way in is refused', () => {
    const { refused } = judge([admin, row(8530, ['shop']), row(8531, [], 'failed')])
    expect(refused).toMatch('Nobody could sign in without this endpoint')
    expect(judge([admin, row(8530, ['_system'])]).refused).toBeUndefined()
  })

  test('one’s own is named, with another way to the console', () => {
    const { own, wayOut } = judge([admin, row(8530, ['_system'])], { here: admin.address })
    expect({ own, wayOut }).toEqual({ own: true, wayOut: 'tcp://127.0.0.1:8530' })
  })
})

describe('before a mapping is saved', () => {
  const other = row(8530, ['_system'])
  const cutOff = (rows: EndpointRow[], after: string[], here?: string) =>
    sayCutOff({ row: admin, rows, here, after })

  test('the last way in is told', () => {
    expect(cutOff([admin, row(8530, ['shop'])], ['shop'])).toEqual([
      expect.stringContaining('Nobody could sign in without this endpoint'),
    ])
  })

  test('one’s own way in is told, with another', () => {
    expect(cutOff([admin, other], ['shop'], admin.address)).toEqual([
      'You are connected through this endpoint. This page will stop working. ' +
        'The console is then at tcp://127.0.0.1:8530.',
    ])
    expect(cutOff([admin, other], ['shop'])).toEqual([])
  })

  test('whoever keeps _system is not warned', () => {
    expect(cutOff([admin], ['shop', '_system'], admin.address)).toEqual([])
    expect(cutOff([admin], [], admin.address)).toEqual([])
  })
})
