import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Actor, AuditEntry } from '../contract/audit.ts'
import { replaceControls } from '../control-characters.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import { type Change, executeLater, sharesRoundTrips } from '../storage/changes/transactions.ts'
import type { Store } from '../storage/store.ts'

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
      (seq, at, actor, "by", address, action, target, outcome, "before", "after", change, token, hash)
    select seq, ${at}::bigint, ${row.actor}::text, ${row.by}::text, ${row.address}::text,
           ${row.action}::text, ${row.target}::text, ${row.outcome}::text, ${row.before}::text,
           ${row.after}::text, ${row.change}::text, ${row.token}::text, hash
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
  token: actor.token === undefined ? null : storable(actor.token),
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

/** Columns covered by the hash of a row, as stored and converted to text. */
export interface HashedColumns {
  readonly seq: string
  readonly at: string
  readonly actor: string
  readonly by: string
  readonly address: string | null
  readonly action: string
  readonly target: string
  readonly outcome: string
  readonly before: string
  readonly after: string
  /** Id of the bulk change. Default: none. */
  readonly change?: string | null
  /** Name of the token of the caller. Default: none. */
  readonly token?: string | null
}

/**
 * Returns the hash of a row: SHA-256 in hexadecimal, over the hash of the previous row (empty for
 * the first row) and a JSON array of the columns in this order. The format is released and must not
 * change. `change` and `token` were added later: the array ends with the last one that is not null.
 */
export function rowHash(previous: string, row: HashedColumns): string {
  const columns = [row.seq, row.at, ...contentOf(row)]
  return createHash('sha256').update(previous).update(JSON.stringify(columns)).digest('hex')
}

/** Columns of a row that are known before its number. */
type HashedContent = Omit<HashedColumns, 'seq' | 'at'>

/** Returns the hashed columns that follow `seq` and `at`, in order. */
const contentOf = (row: HashedContent): (string | null)[] => [
  row.actor,
  row.by,
  row.address,
  row.action,
  row.target,
  row.outcome,
  row.before,
  row.after,
  ...(row.change == null && row.token == null ? [] : [row.change ?? null]),
  ...(row.token == null ? [] : [row.token]),
]
