import type { AuditPage } from '../../server/contract/audit.ts'

/** A page is filled with at most this many requests; a person can then ask for older rows. */
export const MOST_REQUESTS = 10

/**
 * Fills a page of the log. The server ends a page early when its search has looked at many rows, and
 * says where to go on.
 *
 * @param size how many rows the page should have.
 * @param read requests at most so many rows before a number; undefined: the newest ones.
 */
export async function fillPage(
  size: number,
  before: number | undefined,
  read: (before: number | undefined, limit: number) => Promise<AuditPage>,
): Promise<AuditPage> {
  let page = await read(before, size)
  for (let requests = 1; requests < MOST_REQUESTS; requests++) {
    const { rows, next } = page
    if (next === null || rows.length >= size) break
    const more = await read(next, size - rows.length)
    page = { rows: [...rows, ...more.rows], next: more.next }
  }
  return page
}
