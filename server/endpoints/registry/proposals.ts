import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Actor } from '../contract/audit.ts'
import type { EndpointRecord } from '../contract/endpoint.ts'
import { nextRevision } from '../storage/next-revision.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import { storeClock } from '../storage/store-clock.ts'
import { type ExpectedRevision, requireRevision } from './repository.ts'

/** An endpoint that was asked for at a node that cannot open it itself: another one may. */
export interface Proposal extends EndpointRecord {
  readonly id: string
  /** The node that was asked, and has tried. */
  readonly node: string
  readonly actor: Actor
}

/** What stands in the column. */
type Proposed = Pick<Proposal, 'id' | 'node' | 'actor'>

/** A proposal whose node did not withdraw it in this time has lost its node, ms. */
const ABANDONED = 5_000

/**
 * Stores a proposal; its id, or undefined where the address is configured or proposed already. Never
 * called on SQLite, where nobody else could take it up.
 *
 * @throws Failure `precondition-failed`
 */
export function propose(
  store: Store,
  { endpoint, databases, node, actor }: Omit<Proposal, 'id'>,
  expected: ExpectedRevision,
): Promise<string | undefined> {
  return store.change(async (trx) => {
    const revision = await nextRevision(trx)
    const row = await trx
      .selectFrom('endpoints')
      .select(['revision', 'proposal'])
      .where('address', '=', endpoint)
      .executeTakeFirst()
    requireRevision(endpoint, row?.proposal === null ? row.revision : undefined, expected)
    if (row !== undefined) return undefined
    const proposed: Proposed = { id: randomUUID(), node, actor }
    await trx
      .insertInto('endpoints')
      .values({
        address: endpoint,
        databases: JSON.stringify(databases),
        revision,
        proposal: JSON.stringify(proposed),
        proposed_at: storeClock,
      })
      .execute()
    return proposed.id
  })
}

/** What is proposed now. */
export async function readProposals(store: Store): Promise<Proposal[]> {
  const rows = await store.db
    .selectFrom('endpoints')
    .selectAll()
    .where('proposal', 'is not', null)
    .execute()
  return rows.map(({ address, databases, proposal }) => ({
    endpoint: address,
    databases: JSON.parse(databases) as string[],
    ...(JSON.parse(proposal ?? '{}') as Proposed),
  }))
}

/** What has become of a proposal: nobody has it, it still waits, or the address is configured. */
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
 * Makes an endpoint of a proposal, on record as the change of whoever asked for it.
 *
 * @returns its revision once that is durable; undefined where it was withdrawn, or somebody was faster.
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
    })
    return revision
  })
}

/** Takes a proposal back; false where it is one no more. */
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

/** Deletes the proposals of nodes that ended before they could take them back. */
export async function sweepProposals(store: Store): Promise<void> {
  await store.db
    .deleteFrom('endpoints')
    .where('proposal', 'is not', null)
    .where('proposed_at', '<', sql<number>`${storeClock} - ${ABANDONED}::bigint`)
    .execute()
}

const isOf = (proposal: string | null | undefined, id: string): boolean =>
  typeof proposal === 'string' && (JSON.parse(proposal) as Proposed).id === id
