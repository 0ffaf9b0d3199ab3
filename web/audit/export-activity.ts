import type { AuditPage, AuditRow } from '../../server/contract/audit.ts'
import { api, readJson } from '../api/client.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { announce } from '../ui/announce.tsx'
import { fileTime, saveFile } from '../ui/text/save-file.ts'
import { type ActivitySearch, toAuditQuery } from './activity-search.ts'

/** The formats of an export. */
export const EXPORT_FORMATS = [
  { name: 'csv', label: 'CSV', type: 'text/csv', print: toCsv },
  { name: 'jsonl', label: 'JSON lines', type: 'application/x-ndjson', print: toLines },
] as const

/** Maximum page size of the server. */
const PAGE = 500

/** Downloads all rows that match a filter, newest first, with times in UTC. */
export const useExportActivity = (search: ActivitySearch) =>
  useReportedMutation({
    change: () => ({ what: 'The activity', done: 'exported' }),
    mutationFn: async ({ name, type, print }: (typeof EXPORT_FORMATS)[number]) => {
      const rows = await readAll(search)
      saveFile(`gatehouse-activity-${fileTime(new Date())}.${name}`, print(rows), type)
      return rows.length
    },
    onSuccess: (count) => announce(`${count} ${count === 1 ? 'row was' : 'rows were'} exported.`),
  })

async function readAll(search: ActivitySearch): Promise<AuditRow[]> {
  const rows: AuditRow[] = []
  let before: number | null = null
  do {
    const page: AuditPage = await readJson(
      api._api.audit.$get({
        query: {
          ...toAuditQuery(search),
          limit: `${PAGE}`,
          ...(before === null ? {} : { before: `${before}` }),
        },
      }),
    )
    rows.push(...page.rows)
    before = page.next
  } while (before !== null)
  return rows
}

function toLines(rows: readonly AuditRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

const COLUMNS = [
  ...(['seq', 'at', 'actor', 'actorName', 'by', 'token', 'address', 'action'] as const),
  ...(['target', 'targetName', 'outcome', 'before', 'after', 'change', 'hash'] as const),
]

/** Prints rows as CSV (RFC 4180), with `before` and `after` as JSON. */
export function toCsv(rows: readonly AuditRow[]): string {
  const lines = rows.map((row) => COLUMNS.map((column) => cellOf(row[column])).join())
  return [COLUMNS.join(), ...lines, ''].join('\r\n')
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  // A spreadsheet would take it for a formula.
  const safe = /^[=+@\t\r-]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
