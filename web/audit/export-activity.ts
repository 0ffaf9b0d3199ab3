import type { AuditPage, AuditRow } from '../../server/contract/audit.ts'
import { answer, api } from '../api.ts'
import { fileTime, saveFile } from '../ui/save-file.ts'
import { type ActivitySearch, toAuditQuery } from './activity-search.ts'

/** The most that the server gives at once. */
const PAGE = 500

/**
 * Saves all that a filter lets through as a file of JSON lines, newest first, times in UTC.
 *
 * @returns how many rows it holds.
 */
export async function exportActivity(search: ActivitySearch): Promise<number> {
  const rows: AuditRow[] = []
  let before: number | null = null
  do {
    const page: AuditPage = await answer(
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

/** One JSON object a line. */
const toLines = (rows: readonly AuditRow[]) =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('')
