import { expect, test } from 'vitest'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { joinRows } from '../model/endpoint-rows.ts'
import { type BulkPlanInput, planBulk } from './plan-bulk.ts'

const at = (port: number) => `tcp://127.0.0.1:${port}`
const status = (endpoint: string) =>
  ({ endpoint, node: 'a', state: 'listening', connections: 2, lastRequest: null }) as ListenerStatus
const records = [
  { endpoint: at(1), databases: [] },
  { endpoint: at(2), databases: ['blog', 'shop'] },
  { endpoint: at(3), databases: ['blog'] },
  { endpoint: at(4), databases: ['_system', 'news'] },
]
const rows = joinRows(
  records,
  records.map(({ endpoint }) => status(endpoint)),
)
const plan = (input: Partial<BulkPlanInput>) =>
  planBulk({
    action: 'remove',
    name: '',
    rows,
    selected: new Set(rows.map(({ address }) => address)),
    here: 'unix:///run/gatehouse.sock',
    ...input,
  })
const mapped = ({ tasks }: ReturnType<typeof plan>) =>
  Object.fromEntries(tasks.map(({ row, after }) => [row.address, after]))

test('a database is appended to mappings that do not serve it', () => {
  const added = plan({ action: 'add', name: 'blog' })
  expect(mapped(added)).toEqual({ [at(4)]: ['_system', 'news', 'blog'] })
  expect(added.skipped.map(({ address, isUnchanged }) => [address, isUnchanged])).toEqual([
    [at(1), true],
    [at(2), true],
    [at(3), true],
  ])
})

test('removing the last name never maps all databases', () => {
  const taken = plan({ action: 'remove-database', name: 'blog' })
  expect(mapped(taken)).toEqual({ [at(2)]: ['shop'] })
  expect(taken.skipped).toContainEqual({
    address: at(3),
    isUnchanged: false,
    reason:
      'blog is its only database. Without it, the endpoint would serve all databases. Change its mapping or remove it instead.',
  })
  expect(taken.skipped.find(({ address }) => address === at(1))?.isUnchanged).toBe(false)
})

test('the last admin endpoint is kept, preferably the one of the page', () => {
  for (const here of [at(1), at(4)]) {
    const removed = plan({ here })
    expect(removed.tasks.map(({ row }) => row.address)).not.toContain(here)
    expect(removed.tasks).toHaveLength(3)
    expect(removed.skipped).toMatchObject([{ address: here, isUnchanged: false }])
  }
  const taken = plan({
    action: 'remove-database',
    name: '_system',
    rows: rows.slice(1),
    here: at(4),
  })
  expect(taken.tasks).toEqual([])
  expect(taken.skipped.find(({ address }) => address === at(4))?.reason).toContain(
    'no one could sign in',
  )
})

test('endpoints are turned off and on, and keep their other rules', () => {
  const policies = [
    { endpoint: at(2), policy: { enabled: false, readOnly: true }, revision: 1 },
    { endpoint: at(3), policy: { enabled: false }, revision: 1 },
    { endpoint: at(4), policy: { note: 'x' }, revision: 1 },
  ]
  const ruled = joinRows(
    records,
    records.map(({ endpoint }) => status(endpoint)),
    new Map(),
    policies,
  )
  const policyOf = ({ tasks }: ReturnType<typeof plan>) =>
    Object.fromEntries(tasks.map(({ row, policy }) => [row.address, policy?.after]))
  expect(policyOf(plan({ action: 'turn-on', rows: ruled }))).toEqual({
    [at(2)]: { readOnly: true },
    [at(3)]: null,
  })
  const off = plan({ action: 'turn-off', rows: ruled, here: at(4) })
  // One way to the console is kept.
  expect(policyOf(off)).toEqual({ [at(1)]: { enabled: false } })
  expect(off.skipped.map(({ address, isUnchanged }) => [address, isUnchanged])).toEqual([
    [at(2), true],
    [at(3), true],
    [at(4), false],
  ])
  expect(plan({ action: 'turn-off' }).tasks).toEqual([])
})
