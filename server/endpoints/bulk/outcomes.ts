import { ROLES } from '../../contract/access/role.ts'
import type { Change } from '../../storage/changes/transactions.ts'
import type { EngineName } from '../../storage/engine.ts'

/** The position of a change in a bulk change, and the claim under which a node makes it. */
export interface BulkPart {
  readonly change: string
  /** Index of the change in the bulk change. */
  readonly at: number
  /** The claimant; no other node may make the change. */
  readonly claim: string
}

/** The outcome of a change that did not fail. */
export interface Outcome {
  readonly part: BulkPart
  readonly state: 'made' | 'unchanged'
  /** The previous databases as a JSON array; null if the endpoint did not exist. */
  readonly before: string | null
  /** The endpoint's revision afterwards; null if it was removed. */
  readonly revision: number | null
}

/** The roles that may change endpoints. */
const OPERATOR_ROLES = ROLES.slice(ROLES.indexOf('operator'))

/**
 * Locks the bulk changes of these parts until the transaction ends. Returns the ids of those that
 * must stop: they were cancelled, another node has claimed them, the person or token that requested
 * them no longer has the operator role, or the token has expired.
 */
export async function fence(
  trx: Change,
  engine: EngineName,
  parts: readonly BulkPart[],
): Promise<Set<string>> {
  const claims = new Map(parts.map(({ change, claim }) => [change, claim]))
  const lost = new Set<string>()
  for (const [id, claim] of claims) {
    const row = await trx
      .selectFrom('endpoint_changes')
      .select('id')
      .where('id', '=', id)
      .where('claimed_by', '=', claim)
      .where('state', '=', 'running')
      .where('person', 'in', (eb) =>
        eb.selectFrom('people').select('people.id').where('role', 'in', OPERATOR_ROLES),
      )
      .where((eb) =>
        eb.or([
          eb('token', 'is', null),
          eb(
            'token',
            'in',
            eb
              .selectFrom('tokens')
              .select('tokens.id')
              .where('role', 'in', OPERATOR_ROLES)
              .where((token) =>
                token.or([token('expires_at', 'is', null), token('expires_at', '>', Date.now())]),
              ),
          ),
        ]),
      )
      // Not an update: SQLite would copy the whole row, with all changes of the bulk change.
      .$if(engine === 'postgres', (query) => query.forNoKeyUpdate())
      .executeTakeFirst()
    if (row === undefined) lost.add(id)
  }
  return lost
}

/** Stores outcomes and updates the counters of their bulk changes. */
export async function recordOutcomes(trx: Change, outcomes: readonly Outcome[]): Promise<void> {
  if (outcomes.length === 0) return
  await trx
    .insertInto('endpoint_change_outcomes')
    .values(
      outcomes.map(({ part, state, before, revision }) => ({
        change: part.change,
        at: part.at,
        state,
        before,
        revision,
        failure: null,
      })),
    )
    .execute()
  for (const [id, some] of Map.groupBy(outcomes, ({ part }) => part.change)) {
    const made = some.filter(({ state }) => state === 'made').length
    await trx
      .updateTable('endpoint_changes')
      .set((eb) => ({
        made: eb('made', '+', made),
        unchanged: eb('unchanged', '+', some.length - made),
      }))
      .where('id', '=', id)
      .execute()
  }
}
