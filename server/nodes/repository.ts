import { type Kysely, sql } from 'kysely'
import type { ListenerStatus } from '../contract/listener.ts'
import type { Store } from '../storage/open.ts'
import { storeClock } from '../storage/store-clock.ts'
import type { Tables } from '../storage/tables.ts'
import { aliveSince, DEAD_AFTER } from './alive.ts'

/** A dead node is forgotten after this, ms: long enough for people to see which one it was. */
const FORGOTTEN = 600_000

/** Who a node is. */
export interface Identity {
  readonly name: string
  /** Another one at each start. */
  readonly run: string
  readonly place: string
}

/** A listener as its node reports it. */
export interface ReportedListener {
  readonly id: number
  readonly status: ListenerStatus
}

/** Another node as it has reported itself. */
export interface OtherNode extends Identity {
  readonly report: number
  readonly listeners: number
  /** How long it has not been heard of, ms. */
  readonly silence: number
}

/** What can be asked of the node that has a listener. */
export type Asked = 'retry' | 'close'

/** What nodes tell each other through the store. PostgreSQL alone. */
export type NodeRepository = ReturnType<typeof createNodeRepository>

/** Makes a {@link NodeRepository}. */
export function createNodeRepository({ db, change }: Store) {
  const notify = (trx: Kysely<Tables>) => sql`select pg_notify('gatehouse', 'nodes')`.execute(trx)

  return {
    /**
     * Puts a node among the nodes, without listeners; when, by the clock of the store. Undefined where
     * another that lives has the name and `mine` does not say that it has ended.
     */
    register: ({ name, run, place }: Identity, mine: boolean): Promise<number | undefined> =>
      change(async (trx) => {
        const { rows } = await sql<{ seen_at: number }>`
          insert into nodes (name, run, place, started_at, seen_at, report, listeners)
          -- Reports are counted from the time on: of one that was forgotten, too, none is like another.
          values (${name}, ${run}, ${place}, ${storeClock}, ${storeClock}, ${storeClock}, 0)
          on conflict (name) do update
          set run = excluded.run, place = excluded.place, started_at = excluded.started_at,
            seen_at = excluded.seen_at, listeners = 0,
            -- Who has missed that another run began, or this one again, must see that something did.
            report = nodes.report + 1
          where nodes.run = excluded.run or ${mine} or nodes.seen_at <= ${aliveSince}
          returning seen_at`.execute(trx)
        if (rows[0] === undefined) return undefined
        await trx.deleteFrom('node_listeners').where('node', '=', name).execute()
        await notify(trx)
        return rows[0].seen_at
      }),

    /**
     * Says that a node is alive, and what has changed since it said so last.
     *
     * @param total how many listeners it has.
     * @param loud whether the others are to look at once.
     * @returns when, by the clock of the store; undefined where the node is not among the nodes any more.
     */
    async report(
      { name, run }: Identity,
      changed: readonly ReportedListener[],
      gone: readonly number[],
      total: number,
      loud: boolean,
    ): Promise<number | undefined> {
      const rows = changed.map(({ id, status }) => ({
        id,
        address: status.endpoint,
        state: status.state,
        status: JSON.stringify(status),
      }))
      // One statement, for any number of listeners: it is sent after every change.
      const { rows: told } = await sql<{ seen_at: number | null }>`
        with alive as (
          update nodes set seen_at = ${storeClock}, listeners = ${total},
            report = report + ${rows.length + gone.length === 0 ? 0 : 1}::bigint
          where name = ${name} and run = ${run} returning report, seen_at
        ), put as (
          insert into node_listeners (node, id, address, state, report, status)
          select ${name}, id, address, state, report, status
          from alive, json_to_recordset(${JSON.stringify(rows)}::json)
            as reported (id int, address text, state text, status text)
          on conflict (node, id) do update
          set address = excluded.address, state = excluded.state, report = excluded.report,
            status = excluded.status
        ), cut as (
          delete from node_listeners
          where node = ${name} and id = any(${[...gone]}::int[]) and exists (select from alive)
        )
        select (select seen_at from alive),
          (select pg_notify('gatehouse', 'nodes')::text from alive where ${loud}::boolean)`.execute(
        db,
      )
      return told[0]?.seen_at ?? undefined
    },

    /** Every node but one, those that died not long ago among them. */
    async others(me: string): Promise<OtherNode[]> {
      const { rows } = await sql<OtherNode>`
        select name, run, place, report, listeners, ${storeClock} - seen_at as silence
        from nodes where name <> ${me}`.execute(db)
      return rows
    },

    /** The listeners of a node that changed after one of its reports. */
    async listenersOf(node: string, since: number): Promise<ReportedListener[]> {
      const rows = await db
        .selectFrom('node_listeners')
        .select(['id', 'status'])
        .where('node', '=', node)
        .where('report', '>', since)
        .execute()
      return rows.map(({ id, status }) => ({ id, status: JSON.parse(status) as ListenerStatus }))
    },

    /** Asks the living nodes that have such a listener to do something; how many that are. */
    ask: (me: string, address: string, what: Asked): Promise<number> =>
      change(async (trx) => {
        const { numAffectedRows = 0n } = await sql`
          update node_listeners set asked = ${what}
          from nodes
          where nodes.name = node_listeners.node and nodes.seen_at > ${aliveSince}
          and node_listeners.node <> ${me} and node_listeners.address = ${address}
          and node_listeners.state = ${what === 'retry' ? 'failed' : 'draining'}`.execute(trx)
        if (numAffectedRows > 0n) await notify(trx)
        return Number(numAffectedRows)
      }),

    /** What others have asked this node to do; told once. */
    async asked(me: string): Promise<{ id: number; asked: Asked }[]> {
      const waiting = db
        .selectFrom('node_listeners')
        .select(['id', 'asked'])
        .where('node', '=', me)
        .where('asked', 'is not', null)
      const rows = await waiting.execute()
      if (rows.length === 0) return []
      await db
        .updateTable('node_listeners')
        .set({ asked: null })
        .where('node', '=', me)
        .where('asked', 'is not', null)
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute()
      return rows as { id: number; asked: Asked }[]
    },

    /** Deletes what long-dead nodes have left. */
    async forgetDead(): Promise<void> {
      await sql`
        with gone as (
          delete from nodes where seen_at < ${storeClock} - ${DEAD_AFTER + FORGOTTEN}::bigint
          returning name
        )
        delete from node_listeners where node in (select name from gone)`.execute(db)
    },

    /** Takes a node out, at its end; the others see that at once. */
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
