import type { AuditPage } from '../../../server/contract/audit.ts'

/** Maximum requests to fill one page. Older rows can then be requested. */
export const MAX_REQUESTS = 10

/**
 * Fetches a page of the log, with several requests if needed. The server ends a page early after
 * scanning many rows, and returns where to continue.
 *
 * @param size number of entries in a full page: rows and bulk changes.
 * @param read fetches up to `limit` rows with sequence numbers below `before`, or the newest rows
 *   if it is undefined.
 */
export async function fillPage(
  size: number,
  before: number | undefined,
  read: (before: number | undefined, limit: number) => Promise<AuditPage>,
): Promise<AuditPage> {
  let page = await read(before, size)
  for (let requests = 1; requests < MAX_REQUESTS; requests++) {
    const { rows, next } = page
    if (next === null || entriesOf(rows) >= size) break
    const more = await read(next, size - entriesOf(rows))
    page = { rows: [...rows, ...more.rows], next: more.next }
  }
  return page
}

/** Returns how many entries rows are. All rows of a bulk change are one. */
const entriesOf = (rows: AuditPage['rows']): number =>
  new Set(rows.map(({ change, seq }) => change ?? seq)).size
