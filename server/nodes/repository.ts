import { type Kysely, sql } from 'kysely'
import * as z from 'zod/mini'
import { listenerStatus } from '../contract/endpoints/listener.ts'
import { parseColumn, parseJsonColumn } from '../storage/sql/parse-column.ts'
import type { Store } from '../storage/store.ts'
import { storeClock } from '../storage/store-clock.ts'
import type { Tables } from '../storage/tables.ts'
import type { Report, ReportedListener } from './listener-reports.ts'

/** A node without a heartbeat for this long counts as dead, ms. */
export const DEAD_AFTER = 12_000

/** SQL expression: a node last seen after this time counts as alive. */
export const aliveSince = sql<number>`(${storeClock} - ${DEAD_AFTER}::bigint)`

/** How long a dead node stays listed, ms, so that users can see which one it was. */
const DEAD_LISTED_FOR = 600_000

export interface Identity {
  readonly name: string
  /** Random, different at each start. */
  readonly run: string
  /** Identifies the machine and network of the process; see `hostId` in `module.ts`. */
  readonly hostId: string
}

const otherNodes = z.array(
  z.object({
    name: z.string(),
    run: z.string(),
    hostId: z.string(),
    report: z.number(),
    listeners: z.number(),
    /** Time since the node was last seen, ms. */
    silence: z.number(),
  }),
)

/** Another node, as stored. */
export type OtherNode = Readonly<z.infer<typeof otherNodes>[number]>

/** A command to a node with a listener: reopen a failed one, or close a draining one. */
export type PeerCommand = 'retry' | 'close'

export type NodeRepository = ReturnType<typeof createNodeRepository>

/** Creates the repository through which nodes communicate. PostgreSQL only. */
export function createNodeRepository({ db, change }: Store) {
  const notify = (trx: Kysely<Tables>) => sql`select pg_notify('gatehouse', 'nodes')`.execute(trx)

  return {
    /**
     * Registers a node without listeners. Returns the time of the database clock, or `undefined` if
     * another live node has the name. With `ownsName`, this process holds the lock on the name, so
     * the earlier node has ended.
     */
    register: ({ name, run, hostId }: Identity, ownsName: boolean): Promise<number | undefined> =>
      change(async (trx) => {
        const { rows } = await sql<{ seen_at: number }>`
          insert into nodes (name, run, place, started_at, seen_at, report, listeners)
          -- The report number starts at the time, so a node that was deleted never repeats one.
          values (${name}, ${run}, ${hostId}, ${storeClock}, ${storeClock}, ${storeClock}, 0)
          on conflict (name) do update
          set run = excluded.run, place = excluded.place, started_at = excluded.started_at,
            seen_at = excluded.seen_at, listeners = 0,
            -- Nodes that missed the new run, or a repeated registration, have to see a change.
            report = nodes.report + 1
          where nodes.run = excluded.run or ${ownsName} or nodes.seen_at <= ${aliveSince}
          returning seen_at`.execute(trx)
        if (rows[0] === undefined) return undefined
        await trx.deleteFrom('node_listeners').where('node', '=', name).execute()
        await notify(trx)
        return rows[0].seen_at
      }),

    /**
     * Records a heartbeat and the changes since the last report.
     *
     * @returns the time of the database clock; `undefined` if the node is no longer registered.
     */
    async report(
      { name, run }: Identity,
      { changed, closed, total, notify: isNotified }: Report,
    ): Promise<number | undefined> {
      const rows = changed.map(({ id, status }) => ({
        id,
        address: status.endpoint,
        state: status.state,
        status: JSON.stringify(status),
      }))
      // A single statement for any number of listeners, because it runs after every change.
      const { rows: replies } = await sql<{ seen_at: number | null }>`
        with alive as (
          update nodes set seen_at = ${storeClock}, listeners = ${total},
            report = report + ${rows.length + closed.length === 0 ? 0 : 1}::bigint
          where name = ${name} and run = ${run} returning report, seen_at
        ), put as (
          insert into node_listeners (node, id, address, state, report, status)
          select ${name}, id, address, state, report, status
          from alive, json_to_recordset(${JSON.stringify(rows)}::json)
            as reported (id int, address text, state text, status text)
          on conflict (node, id) do update
          set address = excluded.address, state = excluded.state, report = excluded.report,
            status = excluded.status
        ), deleted as (
          delete from node_listeners
          where node = ${name} and id = any(${[...closed]}::int[]) and exists (select from alive)
        )
        select (select seen_at from alive),
          (select pg_notify('gatehouse', 'nodes')::text from alive where ${isNotified}::boolean)`.execute(
        db,
      )
      return replies[0]?.seen_at ?? undefined
    },

    /** Returns all nodes except one, including recently dead ones. */
    async others(node: string): Promise<OtherNode[]> {
      const { rows } = await sql`
        select name, run, place as "hostId", report, listeners, ${storeClock} - seen_at as silence
        from nodes where name <> ${node}`.execute(db)
      return parseColumn(otherNodes, 'nodes', rows)
    },

    /** Returns the listeners of a node that changed after one of its reports. */
    async listenersOf(node: string, since: number): Promise<ReportedListener[]> {
      const rows = await db
        .selectFrom('node_listeners')
        .select(['id', 'status'])
        .where('node', '=', node)
        .where('report', '>', since)
        .execute()
      return rows.map(({ id, status }) => ({
        id,
        status: parseJsonColumn(listenerStatus, 'node_listeners.status', status),
      }))
    },

    /**
     * Sends a command to all live nodes with a listener of this address. Returns the number of
     * listeners.
     */
    sendCommand: (from: string, address: string, command: PeerCommand): Promise<number> =>
      change(async (trx) => {
        const { numAffectedRows = 0n } = await sql`
          update node_listeners set asked = ${command}
          from nodes
          where nodes.name = node_listeners.node and nodes.seen_at > ${aliveSince}
          and node_listeners.node <> ${from} and node_listeners.address = ${address}
          and node_listeners.state = ${command === 'retry' ? 'failed' : 'draining'}`.execute(trx)
        if (numAffectedRows > 0n) await notify(trx)
        return Number(numAffectedRows)
      }),

    /** Returns the pending commands for this node and clears them. */
    async takeCommands(node: string): Promise<{ id: number; command: PeerCommand }[]> {
      const waiting = db
        .selectFrom('node_listeners')
        .select(['id', 'asked as command'])
        .where('node', '=', node)
        .where('asked', 'is not', null)
      const rows = await waiting.execute()
      if (rows.length === 0) return []
      await db
        .updateTable('node_listeners')
        .set({ asked: null })
        .where('node', '=', node)
        .where('asked', 'is not', null)
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute()
      return rows as { id: number; command: PeerCommand }[]
    },

    /** Deletes nodes that have been dead for {@link DEAD_LISTED_FOR}, with their listeners. */
    async deleteDead(): Promise<void> {
      await sql`
        with gone as (
          delete from nodes where seen_at < ${storeClock} - ${DEAD_AFTER + DEAD_LISTED_FOR}::bigint
          returning name
        )
        delete from node_listeners where node in (select name from gone)`.execute(db)
    },

    /** Deletes a node when it stops, and notifies the others. */
    leave: ({ name, run }: Identity): Promise<void> =>
      change(async (trx) => {
        const left = await trx
          .deleteFrom('nodes')
          .where('name', '=', name)
          .where('run', '=', run)
          .executeTakeFirst()
        if (left.numDeletedRows === 0n) return
        await trx.deleteFrom('node_listeners').where('node', '=', name).execute()
        await notify(trx)
      }),
  }
}
