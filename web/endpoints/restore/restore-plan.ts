import * as z from 'zod/mini'
import type { AuditRow } from '../../../server/contract/audit/audit.ts'
import { ENDPOINT_CHANGES } from '../../../server/contract/audit/audit.ts'
import type { EndpointChange } from '../guard/check-changes.ts'
import { sameState } from '../model/mapping.ts'

/** The effect of restoring the state before an audit log row. */
export type RestorePlan =
  /** The row is not an applied change of an endpoint. */
  | { readonly kind: 'impossible' }
  /** The endpoint already has the state before the row. */
  | { readonly kind: 'same' }
  | {
      readonly kind: 'change'
      readonly change: EndpointChange
      /** Whether the endpoint was changed again after the row. */
      readonly conflict: boolean
    }

const state = z.nullable(z.object({ databases: z.array(z.string()) }))

/** Returns whether an audit log row can be restored: an applied change of one endpoint. */
export const isRestorable = ({ action, outcome }: Pick<AuditRow, 'action' | 'outcome'>): boolean =>
  outcome === 'done' && ENDPOINT_CHANGES.includes(action)

/**
 * Plans to restore the state before a row. `now` is the current mapping, null if there is no
 * endpoint.
 */
export function planRestore(row: AuditRow, now: readonly string[] | null): RestorePlan {
  const before = state.safeParse(row.before)
  const after = state.safeParse(row.after)
  if (!isRestorable(row) || !before.success || !after.success) return { kind: 'impossible' }
  const wanted = before.data?.databases ?? null
  if (sameState(now, wanted)) return { kind: 'same' }
  return {
    kind: 'change',
    change: { address: row.target, before: now, after: wanted },
    conflict: !sameState(now, after.data?.databases ?? null),
  }
}
