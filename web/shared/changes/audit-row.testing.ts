import type { AuditRow } from '../../../server/contract/audit.ts'

/** Returns a row in which the operator maps an endpoint, with the given fields replaced. */
export const row = (over: Partial<AuditRow> = {}): AuditRow => ({
  seq: 7,
  at: '2026-01-01T00:00:00Z',
  actor: 'local:operator',
  actorName: null,
  by: 'session',
  token: null,
  address: null,
  action: 'endpoint.map',
  target: 'tcp://127.0.0.1:8531',
  targetName: null,
  outcome: 'done',
  before: { databases: ['blog'] },
  after: { databases: ['shop'] },
  change: null,
  hash: '',
  ...over,
})
