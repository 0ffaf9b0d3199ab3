import { expect, test } from 'vitest'
import { toExportRecords } from './export-endpoints.ts'

test('an export has the shape and the order of GET /_api/endpoint', () => {
  const rows = [
    { address: 'tcp://127.0.0.1:9000', databases: [], state: 'failed', revision: 3 },
    { address: 'tcp://127.0.0.1:10000', databases: ['shop', 'blog'], state: 'listening' },
  ]
  expect(toExportRecords(rows)).toStrictEqual([
    { endpoint: 'tcp://127.0.0.1:10000', databases: ['shop', 'blog'] },
    { endpoint: 'tcp://127.0.0.1:9000', databases: [] },
  ])
})

test('an export has the policy of each endpoint if policies are known', () => {
  const rows = [
    { address: 'tcp://127.0.0.1:1', databases: [], policy: { readOnly: true } },
    { address: 'tcp://127.0.0.1:2', databases: [], policy: null },
  ]
  expect(toExportRecords(rows).map(({ policy }) => policy)).toEqual([{ readOnly: true }, null])
})

test('draining endpoints are not exported', () => {
  expect(toExportRecords([{ address: 'tcp://127.0.0.1:9000', databases: null }])).toEqual([])
})
