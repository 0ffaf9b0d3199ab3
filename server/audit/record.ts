import { sql } from 'kysely'
import type { Actor, AuditEntry } from '../contract/audit/audit.ts'
import { replaceControls } from '../control-characters.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { executeLater, sharesRoundTrips } from '../storage/changes/round-trips.ts'
import type { Change } from '../storage/changes/transactions.ts'
import type { Store } from '../storage/store.ts'
import { contentOf, rowHash } from './row-hash.ts'

/** Actor of changes that command-line flags make at startup. */
export const START: Actor = { name: 'start', by: 'system', address: null }

/** Actor of changes made with a command on the server's machine. */
export const COMMAND_LINE: Actor = { name: 'command-line', by: 'command-line', address: null }

/** Maximum length of a text from outside the server, in UTF-16 units. */
const MAX_LENGTH = 1_024

/**
 * Creates the {@link Recorder} of a store. Recording must be the last statement of a transaction:
 * it locks the head of the log, so that all rows form one chain on both engines. Locking other rows
 * afterwards could deadlock with a transaction that waits for the head.
 *
 * @param now returns the time, ms since 1970.
 */
export function createRecorder(now: () => number = Date.now): Recorder {
  return async (trx, ...entries) => {
    if (entries.length === 0) return
    if (sharesRoundTrips(trx)) {
      for (const entry of entries) await appendLater(trx, now(), columnsOf(entry))
      return
    }
    const head = await trx
      .updateTable('audit_head')
      .set((eb) => ({ seq: eb('seq', '+', entries.length) }))
      .where('id', '=', 1)
      .returning(['seq', 'hash'])
      .executeTakeFirstOrThrow()
    // Read the clock after the lock is acquired, so that rows are in order of time.
    const at = now()
    let { hash } = head
    const rows = entries.map((entry, index) => {
      const seq = head.seq - entries.length + 1 + index
      const columns = columnsOf(entry)
      hash = rowHash(hash, { seq: String(seq), at: String(at), ...columns })
      return { seq, at, ...columns, hash }
    })
    await trx.insertInto('audit').values(rows).execute()
    await trx.updateTable('audit_head').set({ hash }).where('id', '=', 1).execute()
  }
}

/**
 * Appends a row with the commit. PostgreSQL computes its hash ({@link rowHash}), so that the head of
 * the log need not be read before.
 */
function appendLater(trx: Change, at: number, row: ReturnType<typeof columnsOf>): Promise<void> {
  const content = JSON.stringify(contentOf(row)).slice(1)
  const appending = sql`
    with head as (
      update audit_head
      set seq = seq + 1,
          hash = encode(sha256(convert_to(
            hash || '["' || (seq + 1)::text || '","' || ${at}::bigint::text || '",' || ${content}::text,
            'UTF8')), 'hex')
      where id = 1
      returning seq, hash)
    insert into audit
      (seq, at, actor, "by", address, action, target, outcome, "before", "after", change, hash)
    select seq, ${at}::bigint, ${row.actor}::text, ${row.by}::text, ${row.address}::text,
           ${row.action}::text, ${row.target}::text, ${row.outcome}::text, ${row.before}::text,
           ${row.after}::text, ${row.change}::text, hash
    from head`
  return executeLater(trx, appending.compile(trx))
}

const columnsOf = ({ actor, action, target, outcome, before, after, change }: AuditEntry) => ({
  actor: storable(actor.name),
  by: actor.by,
  address: actor.address === null ? null : storable(actor.address),
  action,
  target: storable(target),
  outcome,
  before: JSON.stringify(before ?? null),
  after: JSON.stringify(after ?? null),
  change: change ?? null,
})

const recorder = createRecorder()

/**
 * Records a rejected change in its own transaction. Durable when it resolves.
 *
 * @throws Failure `unavailable`
 */
export function recordRejection(store: Store, entry: AuditEntry): Promise<void> {
  return store.change((trx) => recorder(trx, { ...entry, outcome: 'refused' }))
}

/**
 * Returns a text without control characters that both engines return unchanged. Otherwise the row
 * would not match its hash.
 */
const storable = (text: string): string => replaceControls(text.slice(0, MAX_LENGTH).toWellFormed())
