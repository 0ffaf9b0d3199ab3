import { randomBytes } from 'node:crypto'
import type { NextTurn } from '../../concurrency/turns.ts'
import { type Actor, actor as actorSchema } from '../../contract/audit/audit.ts'
import {
  CHANGE_RETENTION,
  type EndpointChangeInput,
  MAX_CHANGES,
  MAX_LISTED_CHANGES,
} from '../../contract/endpoints/endpoint-change.ts'
import { type Failure, toErrorObject } from '../../failure.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import { parseChanges } from './stored-changes.ts'

/**
 * Lease of a claim, ms. Once it expires without renewal, another node takes the bulk change over.
 */
export const LEASE = 15_000

/** Maximum number of rows that one statement inserts or deletes. */
const ROWS = 500

/** A bulk change that a node has claimed. */
export interface ClaimedChange {
  readonly id: string
  readonly actor: Actor
  /** The endpoint through which the request arrived. */
  readonly requestEndpoint: string
  readonly changes: readonly EndpointChangeInput[]
  readonly keepOnFailure: boolean
  /** The indexes of the changes that have an outcome. */
  readonly completed: ReadonlySet<number>
  /** Whether any change has failed. */
  readonly hasFailed: boolean
}

export interface FailedChange {
  readonly at: number
  readonly endpoint: string
  readonly failure: Failure
}

/** Claims on bulk changes: a node makes only those it has claimed. */
export type Claims = ReturnType<typeof createClaims>

/** Creates {@link Claims}. `now` returns ms since 1970, the same on all nodes. */
export function createClaims(store: Store, now: () => number, nextTurn: NextTurn) {
  const { db } = store
  const claimant = randomBytes(8).toString('hex')
  const lease = () => ({ claimed_by: claimant, claimed_until: now() + LEASE })

  async function claimDue() {
    for (;;) {
      const due = await db
        .selectFrom('endpoint_changes')
        .select(['id', 'claimed_by', 'claimed_until'])
        .where('state', '=', 'running')
        .where((eb) =>
          // Only one node uses a SQLite database, so any other claim is from an earlier process.
          store.engine === 'sqlite'
            ? eb.lit(true)
            : eb.or([eb('claimed_by', '=', claimant), eb('claimed_until', '<', now())]),
        )
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst()
      if (due === undefined) return undefined
      const row = await db
        .updateTable('endpoint_changes')
        .set(lease())
        .where('id', '=', due.id)
        .where('state', '=', 'running')
        .where('claimed_by', '=', due.claimed_by)
        .where('claimed_until', '=', due.claimed_until)
        .returningAll()
        .executeTakeFirst()
      // Otherwise it has ended, or another node has claimed it.
      if (row !== undefined) return row
    }
  }

  return {
    /** Claims the oldest running bulk change that this node holds or whose lease has expired. */
    async claim(): Promise<ClaimedChange | undefined> {
      const row = await claimDue()
      if (row === undefined) return undefined
      const completed = await db
        .selectFrom('endpoint_change_outcomes')
        .select('at')
        .where('change', '=', row.id)
        .execute()
      return {
        id: row.id,
        actor: parseJsonColumn(actorSchema, 'endpoint_changes.actor', row.actor),
        requestEndpoint: row.via,
        changes: await parseChanges(row.changes, nextTurn),
        keepOnFailure: row.keep_on_failure === 1,
        completed: new Set(completed.map(({ at }) => at)),
        hasFailed: row.failed > 0,
      }
    },

    /** The name under which this node claims. */
    claimant,

    /** Returns the columns that mark a row as claimed by this node. */
    lease,

    /**
     * Renews a claim. Returns false if another node has claimed the bulk change or it has ended.
     */
    async renew(id: string): Promise<boolean> {
      const row = await db
        .updateTable('endpoint_changes')
        .set(lease())
        .where('id', '=', id)
        .where('claimed_by', '=', claimant)
        .where('state', '=', 'running')
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** Releases all claims of this node so that other nodes can take them. */
    async release(): Promise<void> {
      await db
        .updateTable('endpoint_changes')
        .set({ claimed_until: 0 })
        .where('claimed_by', '=', claimant)
        .where('state', '=', 'running')
        .execute()
    },

    /** Stores the changes that failed and those that made no difference. */
    storeOutcomes(
      id: string,
      failed: readonly FailedChange[],
      unchanged: readonly number[],
    ): Promise<void> {
      return store.change(async (trx) => {
        const row = await trx
          .updateTable('endpoint_changes')
          .set((eb) => ({
            failed: eb('failed', '+', failed.length),
            unchanged: eb('unchanged', '+', unchanged.length),
          }))
          .where('id', '=', id)
          .where('claimed_by', '=', claimant)
          .where('state', '=', 'running')
          .returning('id')
          .executeTakeFirst()
        if (row === undefined) return
        const rows: Tables['endpoint_change_outcomes'][] = [
          ...failed.map(({ at, endpoint, failure }) => ({
            change: id,
            at,
            state: 'failed',
            before: null,
            revision: null,
            failure: JSON.stringify({ endpoint, ...toErrorObject(failure) }),
          })),
          ...unchanged.map((at) => ({
            change: id,
            at,
            state: 'unchanged',
            before: null,
            revision: null,
            failure: null,
          })),
        ]
        for (let at = 0; at < rows.length; at += ROWS) {
          await trx
            .insertInto('endpoint_change_outcomes')
            .values(rows.slice(at, at + ROWS))
            .execute()
        }
      })
    },

    /** Ends a bulk change that this node has claimed. */
    async end(id: string, state: 'done' | 'stopped'): Promise<void> {
      await db
        .updateTable('endpoint_changes')
        .set({ state, ended_at: now() })
        .where('id', '=', id)
        .where('claimed_by', '=', claimant)
        .where('state', '=', 'running')
        .execute()
    },

    /** Deletes a batch of rows that are no longer listed. Returns false if none is left. */
    async deleteExpired(): Promise<boolean> {
      const beyond = await db
        .selectFrom('endpoint_changes')
        .select(['id', 'created_at'])
        .where('state', '!=', 'running')
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .offset(MAX_LISTED_CHANGES)
        .limit(1)
        .executeTakeFirst()
      const old = await db
        .selectFrom('endpoint_changes')
        .select('id')
        .where('state', '!=', 'running')
        .where('created_at', '<=', now() - CHANGE_RETENTION)
        .limit(1)
        .executeTakeFirst()
      const id = (old ?? beyond)?.id
      if (id === undefined) return false
      const last = await db
        .selectFrom('endpoint_change_outcomes')
        .select('at')
        .where('change', '=', id)
        .orderBy('at')
        .offset(ROWS - 1)
        .limit(1)
        .executeTakeFirst()
      await db
        .deleteFrom('endpoint_change_outcomes')
        .where('change', '=', id)
        .where('at', '<=', last?.at ?? MAX_CHANGES)
        .execute()
      if (last === undefined) await db.deleteFrom('endpoint_changes').where('id', '=', id).execute()
      return true
    },
  }
}
