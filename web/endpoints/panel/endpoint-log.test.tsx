import { expect, test } from 'vitest'
import type { AuditRow } from '../../../server/contract/audit.ts'
import { formatRecordedChange } from './endpoint-log.tsx'

const row = (over: Partial<AuditRow>) => ({ outcome: 'done', ...over }) as AuditRow

test.each<[Partial<AuditRow>, string]>([
  [{ action: 'endpoint.add', after: { databases: [] } }, 'Added: all databases'],
  [
    { action: 'endpoint.map', after: { databases: ['blog', 'shop'] } },
    'Mapping changed: blog and shop',
  ],
  [
    { action: 'policy.set', after: { policy: { readOnly: true, maxConnections: 5 } } },
    'Policy changed: read-only and 5 connections',
  ],
  [{ action: 'policy.set', after: { policy: { note: 'x' } } }, 'Policy changed'],
  [{ action: 'endpoint.remove', after: null }, 'Removed'],
  [
    { action: 'endpoint.remove', outcome: 'refused', after: { refused: 'conflict' } },
    'Removal rejected',
  ],
])('%j reads %s', (part, sentence) => {
  expect(formatRecordedChange(row(part))).toBe(sentence)
})
