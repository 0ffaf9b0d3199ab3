import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import * as z from 'zod/mini'
import { actor as actorSchema } from '../../../contract/audit.ts'
import { databaseNames } from '../../../contract/database.ts'
import type { EndpointRecord } from '../../../contract/endpoints/endpoint.ts'
import { beginChange, type Caller, nextRevision } from '../../../storage/changes/begin-change.ts'
import type { Recorder } from '../../../storage/changes/recorder.ts'
import {
  type ExpectedRevision,
  requireRevision,
} from '../../../storage/changes/require-revision.ts'
import { parseJsonColumn } from '../../../storage/sql/parse-column.ts'
import type { Store } from '../../../storage/store.ts'
import { storeClock } from '../../../storage/store-clock.ts'

/** A requested endpoint that the receiving node cannot open. Another node may open it. */
export interface Proposal extends EndpointRecord {
  readonly id: string
  /** The node that received the request and could not open the endpoint. */
  readonly node: string
  readonly actor: Caller
}

/** The JSON in the column `proposal`. */
const proposed = z.object({
  id: z.string(),
  node: z.string(),
  actor: z.intersection(actorSchema, z.object({ change: z.optional(z.string()) })),
})

type Proposed = Pick<Proposal, keyof typeof proposed.shape>

const parseProposed = (text: string): Proposed =>
  parseJsonColumn(proposed, 'endpoints.proposal', text)

/** Age after which a proposal is deleted because its node has stopped, ms. */
const ABANDONED_AFTER = 5_000

/**
 * Stores a proposal. Returns its id, or `undefined` if the address is already configured or
 * proposed. Not used on SQLite, which has a single node.
 *
 * @throws Failure `precondition-failed`
 */
export function propose(
  store: Store,
  { endpoint, databases, node, actor }: Omit<Proposal, 'id'>,
  expected: ExpectedRevision,
): Promise<string | undefined> {
  return store.change(async (trx) => {
    const revision = await beginChange(trx, actor)
    const row = await trx
      .selectFrom('endpoints')
      .select(['revision', 'proposal'])
      .where('address', '=', endpoint)
      .executeTakeFirst()
    requireRevision(
      'endpoint',
      endpoint,
      row?.proposal === null ? row.revision : undefined,
      expected,
    )
    if (row !== undefined) return undefined
    const value: Proposed = proposed.parse({ id: randomUUID(), node, actor })
    await trx
      .insertInto('endpoints')
      .values({
        address: endpoint,
        databases: JSON.stringify(databases),
        revision,
        proposal: JSON.stringify(value),
        proposed_at: storeClock,
      })
      .execute()
    return value.id
  })
}

/** Returns the open proposals. */
export async function readProposals(store: Store): Promise<Proposal[]> {
  const rows = await store.db
    .selectFrom('endpoints')
    .selectAll()
    .where('proposal', 'is not', null)
    .execute()
  return rows.flatMap(({ address, databases, proposal }) =>
    proposal === null
      ? []
      : {
          endpoint: address,
          databases: parseJsonColumn(databaseNames, 'endpoints.databases', databases),
          ...parseProposed(proposal),
        },
  )
}

/** Returns whether a proposal is pending, has become an endpoint, or neither (`gone`). */
export async function outcomeOf(
  store: Store,
  address: string,
  id: string,
): Promise<'gone' | 'waiting' | 'configured'> {
  const row = await store.db
    .selectFrom('endpoints')
    .select('proposal')
    .where('address', '=', address)
    .executeTakeFirst()
  if (row === undefined) return 'gone'
  if (row.proposal === null) return 'configured'
  return isOf(row.proposal, id) ? 'waiting' : 'gone'
}

/**
 * Turns a proposal into an endpoint. The audit log names the user who requested it.
 *
 * @returns its revision, once it is durable; `undefined` if the proposal was withdrawn or another
 * node has confirmed it.
 */
export function confirmProposal(
  store: Store,
  { endpoint, databases, id, actor }: Proposal,
  record: Recorder,
): Promise<number | undefined> {
  return store.change(async (trx) => {
    const revision = await nextRevision(trx)
    const row = await trx
      .selectFrom('endpoints')
      .select('proposal')
      .where('address', '=', endpoint)
      .executeTakeFirst()
    if (!isOf(row?.proposal, id)) return undefined
    await trx
      .updateTable('endpoints')
      .set({ proposal: null, proposed_at: null, revision })
      .where('address', '=', endpoint)
      .execute()
    await record(trx, {
      actor,
      action: 'endpoint.add',
      target: endpoint,
      outcome: 'done',
      before: null,
      after: { databases },
      change: actor.change,
    })
    return revision
  })
}

/** Withdraws a proposal. Returns false if it no longer exists. */
export function withdrawProposal(store: Store, address: string, id: string): Promise<boolean> {
  return store.change(async (trx) => {
    await nextRevision(trx)
    const row = await trx
      .selectFrom('endpoints')
      .select('proposal')
      .where('address', '=', address)
      .executeTakeFirst()
    if (!isOf(row?.proposal, id)) return false
    await trx.deleteFrom('endpoints').where('address', '=', address).execute()
    return true
  })
}

/** Deletes the proposals of nodes that stopped before they could withdraw them. */
export async function sweepProposals(store: Store): Promise<void> {
  await store.db
    .deleteFrom('endpoints')
    .where('proposal', 'is not', null)
    .where('proposed_at', '<', sql<number>`${storeClock} - ${ABANDONED_AFTER}::bigint`)
    .execute()
}

const isOf = (proposal: string | null | undefined, id: string): boolean =>
  typeof proposal === 'string' && parseProposed(proposal).id === id
