import { sql } from 'kysely'
import * as z from 'zod/mini'
import { nextTurn } from '../../concurrency/turns.ts'
import { ENDPOINT_CHANGES } from '../../contract/audit-action.ts'
import { databaseNames } from '../../contract/database.ts'
import type { EndpointChangeInput } from '../../contract/endpoints/endpoint-change.ts'
import { Failure } from '../../failure.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'

/** Number of audit rows read by one statement: a few milliseconds of work. */
const ROWS = 250

/** Revisions begin at 1. A change that expects this one fails. */
const NO_REVISION = 0

/** The mapping of an endpoint before its change; null if it did not exist. */
const mappingBefore = z.nullable(z.object({ databases: databaseNames }))

/**
 * Returns the changes that reverse those of a bulk change, in reverse order, from its audit rows.
 * Those of endpoints that were changed since then fail, unless the endpoint is already as it was
 * before.
 *
 * @throws Failure `not-found` if the bulk change does not exist or has made no changes.
 */
export async function reverseOf(store: Store, id: string): Promise<EndpointChangeInput[]> {
  const changes: EndpointChangeInput[] = []
  for (let end = Number.MAX_SAFE_INTEGER; ; ) {
    // Each statement reads an endpoint and its audit rows in the same state.
    const rows = await store.db
      .selectFrom('audit')
      .leftJoin('endpoints', (join) =>
        join.onRef('endpoints.address', '=', 'target').on('proposal', 'is', null),
      )
      .select(['seq', 'target', 'before', 'databases', 'revision', changedSince.as('changedSince')])
      .where('change', '=', id)
      .where('action', 'in', ENDPOINT_CHANGES)
      .where('seq', '<', end)
      .orderBy('seq', 'desc')
      .limit(ROWS)
      .execute()
    for (const { seq, target, before, databases, revision, changedSince } of rows) {
      end = seq
      const mapping = parseJsonColumn(mappingBefore, 'audit.before', before)?.databases
      const isReversed = databases === (mapping === undefined ? null : JSON.stringify(mapping))
      const expect = changedSince === 1 && !isReversed ? NO_REVISION : revision
      changes.push(
        mapping === undefined
          ? { endpoint: target, remove: true, expect }
          : { endpoint: target, databases: mapping, expect },
      )
    }
    if (rows.length < ROWS) break
    await nextTurn()
  }
  if (changes.length > 0) return changes
  throw new Failure('not-found', 'There is no such bulk change, or it has made no changes.')
}

/** 1 if the endpoint of an audit row has a later one. The first condition uses an index. */
const changedSince = sql<number>`case when exists (
  select 1 from audit as later
  where substr(later.target, 1, 512) = substr(audit.target, 1, 512) and later.target = audit.target
    and later.seq > audit.seq and later.outcome = 'done' and later.action in (${sql.join(ENDPOINT_CHANGES)})
  ) then 1 else 0 end`
