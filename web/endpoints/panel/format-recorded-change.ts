import type { AuditRow } from '../../../server/contract/audit/audit.ts'
import { formatList } from '../model/list/format-list.ts'

const done: Readonly<Record<string, string>> = {
  'endpoint.add': 'Added',
  'endpoint.map': 'Mapping changed',
  'endpoint.remove': 'Removed',
}

const rejected: Readonly<Record<string, string>> = {
  'endpoint.add': 'Adding or mapping rejected',
  'endpoint.remove': 'Removal rejected',
}

/**
 * Formats an audit log row of an endpoint: "Mapping changed: blog and shop", "Removed", "Removal
 * rejected".
 */
export function formatRecordedChange({ action, outcome, after }: AuditRow): string {
  const what = done[action] ?? action
  if (outcome === 'refused') return rejected[action] ?? `${what}: rejected`
  const names = databasesOf(after)
  if (names === undefined) return what
  return `${what}: ${names.length === 0 ? 'all databases' : formatList(names)}`
}

function databasesOf(after: unknown): string[] | undefined {
  if (typeof after !== 'object' || after === null || !('databases' in after)) return undefined
  return Array.isArray(after.databases) ? after.databases.map(String) : undefined
}
