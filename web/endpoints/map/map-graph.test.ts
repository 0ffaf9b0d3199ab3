import { describe, expect, test } from 'vitest'
import type { ListenerState } from '../../../server/contract/endpoints/listener.ts'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { ALL, layOut, makeGraph, NODE_HEIGHT } from './map-graph.ts'

const row = (
  port: number,
  databases: string[] | null,
  state: ListenerState = 'listening',
): EndpointRow => {
  const endpoint = `tcp://127.0.0.1:${port}`
  const [made] = joinRows([{ endpoint, databases: databases ?? [] }], [])
  if (made === undefined) throw new Error('no row')
  return { ...made, databases, state }
}

describe('the map', () => {
  const rows = [
    row(1, []),
    row(2, ['shop', 'blog', 'news']),
    row(3, ['shop', 'news', 'blog'], 'failed'),
    row(4, ['blog', 'shop']),
    row(5, null, 'draining'),
  ]
  const databases = ['_system', 'blog', 'shop', 'idle']

  test('groups equal mappings and shows their most severe state', () => {
    const { groups } = makeGraph(rows, databases)
    expect(groups.map((group) => [group.rows.length, group.state])).toEqual([
      [1, 'listening'],
      [2, 'failed'],
      [1, 'listening'],
    ])
  })

  test('connects mappings of all databases to one node and marks the default', () => {
    const { lines, groups } = makeGraph(rows, databases)
    const of = (index: number) => lines.filter(({ group }) => group === groups[index]?.id)
    expect(of(0)).toEqual([{ group: groups[0]?.id, name: ALL, isDefault: true }])
    expect(of(1).map(({ name, isDefault }) => [name, isDefault])).toEqual([
      ['shop', true],
      ['blog', false],
      ['news', false],
    ])
  })

  test('marks existing databases and counts their endpoints', () => {
    const { names } = makeGraph(rows.slice(1), databases)
    expect(names.map(({ id, exists, through, defaultOf }) => [id, exists, through, defaultOf]))
      // biome-ignore format: a table
      .toEqual([
      ['_system', true, 0, 0],
      ['blog', true, 3, 1],
      ['shop', true, 3, 2],
      ['idle', true, 0, 0],
      ['news', false, 2, 0],
    ])
    expect(makeGraph(rows, databases).names.find(({ id }) => id === '_system')).toMatchObject({
      through: 1,
      defaultOf: 1,
    })
  })

  test('contains only databases of the filtered endpoints, with total counts', () => {
    const { names, groups } = makeGraph(rows, databases, ({ address }) => address.endsWith(':4'))
    expect(groups).toHaveLength(1)
    expect(names.map(({ id, through }) => [id, through])).toEqual([
      ['blog', 4],
      ['shop', 4],
    ])
  })
})

describe('the picture of the map', () => {
  const many = Array.from({ length: 190 }, (_, index) => `tenant-${index}`)

  test('collapses many databases without lines, and keeps a few', () => {
    const rows = [row(1, []), row(2, ['shop', 'blog'])]
    const { names, collapsed } = layOut(makeGraph(rows, ['blog', ...many, 'shop']))
    expect(names.map(({ id }) => id)).toEqual([ALL, 'blog', 'shop'])
    expect(collapsed).toEqual([{ id: '* served', served: true, count: 190 }])
    const few = layOut(makeGraph([row(1, ['shop'])], ['blog', 'idle', 'shop']))
    expect(few.names.map(({ id }) => id)).toEqual(['shop', 'blog', 'idle'])
    expect(few.collapsed).toEqual([])
  })

  test('says which collapsed databases are not served', () => {
    const { collapsed } = layOut(makeGraph([row(1, ['shop'])], ['shop', ...many]))
    expect(collapsed).toEqual([{ id: '* not served', served: false, count: 190 }])
  })

  test('orders databases by the groups that reach them, and spreads both sides', () => {
    const rows = [row(1, ['c']), row(2, ['b', 'd']), row(3, ['a', 'd'])]
    const { names, left, right, height } = layOut(makeGraph(rows, [...'abcde']))
    expect(names.map(({ id }) => id)).toEqual([...'cbdae'])
    expect(height).toBe(5 * NODE_HEIGHT)
    expect([...right.values()]).toEqual([20, 60, 100, 140, 180])
    expect([...left.values()]).toEqual([1, 3, 5].map((sixth) => (sixth * height) / 6))
  })
})
