import { describe, expect, test } from 'vitest'
import type { ListenerState } from '../../../server/contract/endpoints/listener.ts'
import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { listener } from '../model/listener.testing.ts'
import { type ChangeContext, checkChanges, guardedLabel } from './check-changes.ts'

const at = (port: number) => `tcp://127.0.0.1:${port}`
const row = (
  port: number,
  databases: string[],
  state: ListenerState = 'listening',
  connections = 0,
  address = at(port),
  policy?: Policy,
): EndpointRow => {
  const [made] = joinRows(
    [{ endpoint: address, databases }],
    [listener(address, state, { connections })],
    new Map(),
    policy && [{ endpoint: address, policy, revision: 1 }],
  )
  if (made === undefined) throw new Error('no row')
  return made
}
const page = { hostname: '127.0.0.1' }
const check = (
  rows: EndpointRow[],
  changes: ChangeContext['changes'],
  more: Partial<ChangeContext> = {},
) =>
  checkChanges({
    changes,
    rows,
    databases: ['_system', 'blog', 'shop'],
    here: 'unix:///run/gatehouse.sock',
    drainSeconds: 30,
    page,
    ...more,
  })
const remove = (port: number) => ({ address: at(port), after: null })
const map = (port: number, ...after: string[]) => ({ address: at(port), after })
const admin = row(8529, [])

describe('removing an endpoint', () => {
  test('lists the open connections and the databases that no endpoint would serve', () => {
    const rows = [row(8530, ['shop'], 'listening', 12), row(8529, ['_system'])]
    expect(check(rows, [remove(8530)]).consequences).toEqual([
      'New connections will be refused immediately. The 12 open connections will have 30 s to finish.',
      'No other endpoint serves shop.',
    ])
  })

  test('omits databases that another open endpoint serves', () => {
    const shop = row(8530, ['shop', 'blog'])
    expect(check([shop, admin], [remove(8530)]).consequences).toHaveLength(1)
    const left = [shop, row(8531, [], 'failed'), row(8529, ['_system'])]
    expect(check(left, [remove(8530)]).consequences).toContain(
      'No other endpoint serves shop or blog.',
    )
  })

  test('names eight databases and counts the others', () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`)
    const rows = [row(8530, names), row(8529, ['_system'])]
    expect(check(rows, [remove(8530)]).consequences.at(-1)).toBe(
      'No other endpoint serves n0, n1, n2, n3, n4, n5, n6, n7 or 32 more.',
    )
  })

  test('closes no connection of a failed endpoint', () => {
    const rows = [row(8530, ['shop'], 'failed'), admin]
    expect(check(rows, [remove(8530)]).consequences).toEqual([
      'No connections will be closed, because none are open.',
    ])
  })

  test('rejects the last endpoint with the console', () => {
    const rows = [admin, row(8530, ['shop']), row(8531, [], 'failed')]
    expect(check(rows, [remove(8529)]).refused).toMatch('no one can sign in')
    expect(check([admin, row(8530, ['_system'])], [remove(8529)]).refused).toBeUndefined()
  })

  test('links to another console for the endpoint of the page', () => {
    const rows = [admin, row(8530, ['_system'])]
    const guard = check(rows, [remove(8529)], { here: at(8529) })
    expect(guard).toMatchObject({
      disconnects: true,
      otherConsole: { address: at(8530), url: 'http://127.0.0.1:8530/_console/endpoints' },
    })
    expect(guard.consequences[0]).toBe(
      'You are connected through this endpoint. This page will stop working.',
    )
    expect(guardedLabel(guard, 'Remove', 'Remove endpoint')).toBe('Remove and disconnect')
  })
})

describe('changing a mapping', () => {
  const rows = [admin, row(8530, ['_system'])]

  test('rejects the last endpoint with the console', () => {
    const { refused } = check([admin, row(8530, ['shop'])], [map(8529, 'shop')], { here: at(8529) })
    expect(refused).toMatch('Without this endpoint, no one can sign in')
  })

  test('links to another console for the endpoint of the page', () => {
    const guard = check(rows, [map(8529, 'shop')], { here: at(8529) })
    expect(guard.disconnects).toBe(true)
    expect(guard.otherConsole?.address).toBe(at(8530))
    expect(guard.consequences).toEqual([
      'You are connected through this endpoint. This page will stop working.',
      'No other endpoint serves blog.',
    ])
    expect(guardedLabel(guard, 'Save', 'Save mapping')).toBe('Save and disconnect')
  })

  test('does not disconnect the page for other endpoints or if _system stays', () => {
    expect(check(rows, [map(8529, 'shop')]).disconnects).toBe(false)
    expect(check(rows, [map(8530, 'shop')], { here: at(8529) }).disconnects).toBe(false)
    expect(check(rows, [map(8529, 'shop', '_system')], { here: at(8529) }).disconnects).toBe(false)
    expect(check(rows, [map(8529)], { here: at(8529) }).consequences).toEqual([])
  })

  test('offers no endpoint that this browser cannot reach', () => {
    const wide = { hostname: '10.0.0.4' }
    const own = row(8529, [], 'listening', 0, 'tcp://10.0.0.4:8529')
    const changes = [{ address: own.address, after: ['shop'] }]
    const context = { here: own.address, page: wide }
    const guard = check(
      [own, row(8530, []), row(1, [], 'listening', 0, 'unix:///a')],
      changes,
      context,
    )
    expect(guard.otherConsole).toBeUndefined()
    expect(guard.consequences).toContain(
      'This browser cannot reach the console through another endpoint.',
    )
    const ipv6 = row(8530, [], 'listening', 0, 'tcp://[::]:8530')
    expect(check([own, ipv6], changes, context).otherConsole).toBeUndefined()
    const ipv4 = row(8530, [], 'listening', 0, 'tcp://0.0.0.0:8530')
    const open = check([own, ipv6, ipv4], changes, context)
    expect(open.otherConsole?.url).toBe('http://10.0.0.4:8530/_console/endpoints')
    const name = 'tcp://everywhere.test:8530'
    const [named] = joinRows(
      [{ endpoint: name, databases: [] }],
      [listener(name, 'listening', { bound: 'tcp://0.0.0.0:8530' })],
    )
    expect(check([own, ...(named ? [named] : [])], changes, context).otherConsole).toEqual({
      address: name,
      url: 'http://10.0.0.4:8530/_console/endpoints',
    })
  })
})

describe('changing several endpoints', () => {
  const rows = [admin, row(8530, ['blog'], 'listening', 2), row(8531, ['shop'], 'listening', 1)]

  test('counts an added admin endpoint', () => {
    const changes = [remove(8529), { address: at(8540), after: ['_system'] }]
    expect(check(rows, changes, { here: at(8529) })).toMatchObject({
      refused: undefined,
      disconnects: true,
      otherConsole: { address: at(8540) },
    })
    expect(check(rows, [remove(8529), remove(8530)]).refused).toMatch('After this change')
    const one = [remove(8529)]
    expect(check(rows, one, { named: true }).refused).toMatch('After this change')
  })

  test('names the endpoint of the page and sums connections', () => {
    const changes = [remove(8529), remove(8530), remove(8531), map(8532, '_system')]
    expect(check(rows, changes, { here: at(8529) }).consequences).toEqual([
      `You are connected through ${at(8529)}. This page will stop working.`,
      'New connections will be refused immediately. The 3 open connections will have 30 s to finish.',
      'No endpoint will serve blog or shop.',
    ])
  })
})

describe('policies', () => {
  const ruled = (port: number, databases: string[], policy: Policy) =>
    row(port, databases, policy.enabled === false ? 'closed' : 'listening', 0, at(port), policy)
  const setPolicy = (port: number, after: Policy | null, mapping: string[] = []) => ({
    address: at(port),
    after: mapping,
    policy: { before: null, after },
  })

  test.each<[string, Policy]>([
    ['that is off', { enabled: false }],
    ['without administration', { administration: false }],
    ['that is removed at a set time', { closesAt: '2030-01-01T00:00:00Z' }],
  ])('an endpoint %s does not count as a way to the console', (_, policy) => {
    const rows = [admin, ruled(8530, ['_system'], policy)]
    expect(check(rows, [remove(8529)]).refused).toMatch('do not count')
    const other = [admin, row(8530, ['_system'])]
    expect(check(other, [setPolicy(8530, policy, ['_system']), remove(8529)]).refused).toBeDefined()
    expect(check(other, [setPolicy(8530, policy, ['_system'])]).refused).toBeUndefined()
    expect(check([admin], [setPolicy(8529, policy)]).refused).toBeDefined()
  })

  test('turning the endpoint of the page off disconnects it, a time of removal does not', () => {
    const rows = [admin, row(8530, ['_system'])]
    const here = { here: at(8529) }
    const guard = check(rows, [setPolicy(8529, { enabled: false })], here)
    expect(guard).toMatchObject({ disconnects: true, otherConsole: { address: at(8530) } })
    expect(guard.consequences).toContain(
      'New connections will be refused immediately. No connections are open.',
    )
    const later = { closesAt: '2030-01-01T00:00:00Z' }
    expect(check(rows, [setPolicy(8529, later)], here).disconnects).toBe(false)
  })

  test('an endpoint that is turned on replaces another one', () => {
    const rows = [admin, ruled(8530, ['_system'], { enabled: false })]
    expect(check(rows, [setPolicy(8530, null, ['_system']), remove(8529)]).refused).toBeUndefined()
  })

  test('an endpoint that is off serves no database', () => {
    const off = ruled(8530, ['shop'], { enabled: false })
    const rows = [row(8529, ['_system']), row(8531, ['shop']), off]
    expect(check(rows, [remove(8531)]).consequences).toContain('No other endpoint serves shop.')
    expect(check(rows, [remove(8530)]).consequences).toEqual([
      'No connections will be closed, because none are open.',
    ])
  })
})
