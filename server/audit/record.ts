import type { Actor, AuditEntry } from '../contract/audit.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import { rowHash } from './row-hash.ts'

/** Who changes what the flags of a start ask for. */
export const START: Actor = { name: 'start', by: 'system', address: null }

/** Who changes the store by a command of this machine. */
export const COMMAND_LINE: Actor = { name: 'command-line', by: 'command-line', address: null }

/** The longest text of somebody else's making that a row holds, in UTF-16 units. */
const LONGEST = 1_024

/**
 * Makes the {@link Recorder} of a store. A record is to be the last statement of its transaction:
 * it locks the head of the log, so all rows form one chain on both engines, and whoever locked
 * other rows after it could wait for a transaction that waits for the head.
 *
 * @param now milliseconds since 1970.
 */
export function createRecorder(now: () => number = Date.now): Recorder {
  return async (trx, { actor, action, target, outcome, before, after }) => {
    const head = await trx
      .updateTable('audit_head')
      .set((eb) => ({ seq: eb('seq', '+', 1) }))
      .where('id', '=', 1)
      .returning(['seq', 'hash'])
      .executeTakeFirstOrThrow()
    // Only now, with the lock: in the order of the rows time should not run backwards.
    const at = now()
    const columns = {
      actor: storable(actor.name),
      by: actor.by,
      address: actor.address === null ? null : storable(actor.address),
      action,
      target: storable(target),
      outcome,
      before: JSON.stringify(before ?? null),
      after: JSON.stringify(after ?? null),
    }
    const hash = rowHash(head.hash, { seq: String(head.seq), at: String(at), ...columns })
    await trx
      .insertInto('audit')
      .values({ seq: head.seq, at, ...columns, hash })
      .execute()
    await trx.updateTable('audit_head').set({ hash }).where('id', '=', 1).execute()
  }
}

const recorder = createRecorder()

/**
 * Puts a refused change on record, in a transaction of its own; durable when it resolves.
 *
 * @throws Failure `unavailable`
 */
export function recordRefusal(store: Store, entry: AuditEntry): Promise<void> {
  return store.change((trx) => recorder(trx, { ...entry, outcome: 'refused' }))
}

/** What both engines give back as it went in: else the row would not fit its own hash. */
const storable = (text: string): string =>
  text.slice(0, LONGEST).toWellFormed().replaceAll('\0', '\u{FFFD}')
