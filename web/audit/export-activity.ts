import type { AuditPage, AuditRow } from '../../server/contract/audit/audit.ts'
import { api, readJson } from '../api/client.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { announce } from '../ui/announce.tsx'
import { fileTime, saveFile } from '../ui/text/save-file.ts'
import { type ActivitySearch, toAuditQuery } from './activity-search.ts'

/** Maximum page size of the server. */
const PAGE = 500

/** Downloads all rows that match a filter as JSON Lines, newest first, with times in UTC. */
export const useExportActivity = (search: ActivitySearch) =>
  useReportedMutation({
    change: () => ({ what: 'The activity', done: 'exported' }),
    mutationFn: () => exportActivity(search),
    onSuccess: (count) => announce(`${count} ${count === 1 ? 'row was' : 'rows were'} exported.`),
  })

async function exportActivity(search: ActivitySearch): Promise<number> {
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
  const name = `gatehouse-activity-${fileTime(new Date())}.jsonl`
  saveFile(name, toLines(rows), 'application/x-ndjson')
  return rows.length
}

const toLines = (rows: readonly AuditRow[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('')
