import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ListenerState } from '../../../server/contract/endpoints/listener.ts'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { ALL, makeGraph } from './map-graph.ts'
import { countCrossings, orderGraph } from './map-layout.ts'

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

describe('the order of the map', () => {
  test('removes avoidable crossings', () => {
    const rows = [row(1, ['c']), row(2, ['b']), row(3, ['a']), row(4, ['a', 'b'])]
    const graph = makeGraph(rows, ['a', 'b', 'c'])
    expect(countCrossings(graph)).toBeGreaterThan(0)
    expect(countCrossings(orderGraph(graph))).toBe(0)
  })

  test('keeps all nodes and never adds crossings', () => {
    const mapping = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e', 'f'))
    fc.assert(
      fc.property(fc.array(mapping, { maxLength: 12 }), (mappings) => {
        const rows = mappings.map((names, index) => row(index + 1, names))
        const graph = makeGraph(rows, ['a', 'b', 'x'])
        const ordered = orderGraph(graph)
        expect(new Set(ordered.groups)).toEqual(new Set(graph.groups))
        expect(new Set(ordered.names)).toEqual(new Set(graph.names))
        expect(countCrossings(ordered)).toBeLessThanOrEqual(countCrossings(graph))
        expect(orderGraph(graph)).toEqual(ordered)
      }),
    )
  })
})
