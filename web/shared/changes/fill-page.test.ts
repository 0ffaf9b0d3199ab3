import { expect, test } from 'vitest'
import type { AuditPage, AuditRow } from '../../../server/contract/audit.ts'
import { fillPage, MAX_REQUESTS } from './fill-page.ts'

const row = (seq: number) => ({ seq }) as AuditRow

/** Simulates a server that ends each page after two rows. */
function server(rows: number) {
  const requested: [number | undefined, number][] = []
  const read = async (before = rows + 1, limit: number): Promise<AuditPage> => {
    requested.push([before, limit])
    const seqs = [before - 1, before - 2].filter((seq) => seq > 0).slice(0, limit)
    const last = seqs.at(-1) ?? 0
    return { rows: seqs.map(row), next: last > 1 ? last : null }
  }
  return { requested, read }
}

const seqs = ({ rows }: AuditPage) => rows.map(({ seq }) => seq)

test('fills a page with further requests if the server ends it early', async () => {
  const { requested, read } = server(9)
  const page = await fillPage(5, undefined, read)
  expect([seqs(page), page.next]).toEqual([[9, 8, 7, 6, 5], 5])
  expect(requested).toEqual([
    [10, 5],
    [8, 3],
    [6, 1],
  ])
  const last = await fillPage(5, page.next ?? undefined, read)
  expect([seqs(last), last.next]).toEqual([[4, 3, 2, 1], null])
})

test('stops after the maximum of requests and returns the position to continue from', async () => {
  let next = 1_000
  const page = await fillPage(5, undefined, async () => ({ rows: [], next: --next }))
  expect(page).toEqual({ rows: [], next: 1_000 - MAX_REQUESTS })
})
