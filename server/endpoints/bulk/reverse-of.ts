import { sql } from 'kysely'
import * as z from 'zod/mini'
import { nextTurn } from '../../concurrency/turns.ts'
import { ENDPOINT_CHANGES, POLICY_CHANGES } from '../../contract/audit-action.ts'
import { databaseNames } from '../../contract/database.ts'
import type { EndpointChangeInput } from '../../contract/endpoints/endpoint-change.ts'
import { policy as policySchema } from '../../contract/endpoints/policy.ts'
import { Failure } from '../../failure.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'

/** Number of audit rows read by one statement: a few milliseconds of work. */
const ROWS = 250

/** Revisions begin at 1. A change that expects this one fails. */
const NO_REVISION = 0

/** An endpoint before its change; null if it did not exist. */
const endpointBefore = z.nullable(
  z.object({ databases: databaseNames, policy: z.optional(z.nullable(policySchema)) }),
)

/** A policy before its change; null if there was none. */
const policyBefore = z.nullable(z.object({ policy: policySchema }))

/**
 * Returns the changes that reverse those of a bulk change, in reverse order, from its audit rows.
 * Those of endpoints and policies that were changed since then fail, unless they are already as
 * they were before.
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
      .leftJoin('policies', 'policies.address', 'target')
      .select(['seq', 'action', 'target', 'before', 'databases', 'revision'])
      .select(['policy', 'policy_revision', changedSince.as('changedSince')])
      .where('change', '=', id)
      .where('action', 'in', ENDPOINT_CHANGES)
      .where('seq', '<', end)
      .orderBy('seq', 'desc')
      .limit(ROWS)
      .execute()
    for (const row of rows) {
      end = row.seq
      changes.push(POLICY_CHANGES.includes(row.action) ? reversePolicy(row) : reverseMapping(row))
    }
    if (rows.length < ROWS) break
    await nextTurn()
  }
  if (changes.length === 0) {
    throw new Failure('not-found', 'There is no such bulk change, or it has made no changes.')
  }
  // Removing an endpoint removes its policy.
  const removed = new Set(changes.flatMap((each) => ('remove' in each ? each.endpoint : [])))
  return changes.filter((each) => 'remove' in each || !removed.has(each.endpoint))
}

interface AuditedChange {
  readonly target: string
  readonly before: string
  readonly databases: string | null
  readonly revision: number | null
  readonly policy: string | null
  readonly policy_revision: number | null
  readonly changedSince: number
}

function reverseMapping(row: AuditedChange): EndpointChangeInput {
  const { target, databases, revision } = row
  const before = parseJsonColumn(endpointBefore, 'audit.before', row.before)
  const isReversed = databases === (before === null ? null : JSON.stringify(before.databases))
  const expect = row.changedSince === 1 && !isReversed ? NO_REVISION : revision
  if (before === null) return { endpoint: target, remove: true, expect }
  const { policy } = before
  return {
    endpoint: target,
    databases: before.databases,
    ...(policy && { policy }),
    expect,
  }
}

function reversePolicy(row: AuditedChange): EndpointChangeInput {
  const policy = parseJsonColumn(policyBefore, 'audit.before', row.before)?.policy ?? null
  const isReversed = row.policy === (policy && JSON.stringify(policy))
  const revision = row.policy === null ? null : row.policy_revision
  const expectPolicy = row.changedSince === 1 && !isReversed ? NO_REVISION : revision
  return { endpoint: row.target, policy, expectPolicy }
}

/** 1 if the change of an audit row has a later one of its kind. The first condition uses an index. */
const changedSince = sql<number>`case when exists (
  select 1 from audit as later
  where substr(later.target, 1, 512) = substr(audit.target, 1, 512) and later.target = audit.target
    and later.seq > audit.seq and later.outcome = 'done'
    and later.action in (${sql.join(ENDPOINT_CHANGES)})
    and (later.action in (${sql.join(POLICY_CHANGES)})) = (audit.action in (${sql.join(POLICY_CHANGES)}))
  ) then 1 else 0 end`
