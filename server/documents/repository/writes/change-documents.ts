import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Transaction } from 'kysely'
import type { Failure } from '../../../failure.ts'
import { resolveOutcome } from '../../../storage/availability/resolve-outcome.ts'
import { retryConflicts } from '../../../storage/availability/retry-conflicts.ts'
import { requireSchema } from '../../../storage/current-schema.ts'
import { type CollectionRef, StateChanged } from '../../../storage/document-ref.ts'
import { requireDatabase } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import type { Tables } from '../../../storage/tables.ts'
import { createEntityTag } from '../../document.ts'
import {
  type CollectionIndexes,
  lockDocuments,
  NotUnique,
  openIndexes,
} from '../../indexes/write/collection-indexes.ts'
import { UniqueValuesTooLarge } from '../../indexes/write/entries.ts'
import { insertion, isAmong, requireFewRows, type Scope, storedStates } from './write-documents.ts'

/** A change of a document in the state in which it was read. */
export interface StateChange {
  readonly id: string
  /** The tag of that state. */
  readonly tag: string
  readonly body: string
  /** The new body; undefined deletes the document. */
  readonly next: string | undefined
}

/** The result of a change: why it was rejected, or undefined if it was made. */
export type ChangeResult = Failure | undefined

/** Options of {@link ChangeDocuments}. */
export interface ChangeOptions {
  /** The tag of the schema that has validated the new bodies, null for none; only for patches. */
  readonly schema?: string | null
  /** The names of the fields that the new bodies change; by default all may. */
  readonly fields?: ReadonlySet<string>
  /** Whether all changes are made or none. Default: false. */
  readonly all?: boolean
  /** Called at the end of the transaction with the results, to store more in it. */
  readonly commit?: (trx: Transaction<Tables>, results: readonly ChangeResult[]) => Promise<void>
}

/**
 * Changes or deletes documents in one transaction, in the order of their ids. It ends before the
 * first document that is no longer in the state in which it was read.
 *
 * @returns the results of the first changes, with `all` of each.
 * @throws Failure `database-not-found`; with `all`, the failure of a document that a unique index
 * rejects
 * @throws StateChanged if the first document has changed, or with `all` any; TooManyRows with `all`;
 * SchemaChanged
 */
export type ChangeDocuments = (
  where: CollectionRef,
  changes: readonly StateChange[],
  options: ChangeOptions,
) => Promise<readonly ChangeResult[]>

/** Number of documents and bytes that are changed in a turn of the event loop. */
const BATCH = { documents: 250, bytes: 512 * 1024 } as const

interface Row {
  readonly id: string
  readonly tag: string
  readonly body: string
}

export function createChangeDocuments({ db, engine, transaction }: Store): ChangeDocuments {
  return async (where, changes, { schema, fields, all = false, commit }) => {
    const scope: Scope = { engine, where }
    let results: ChangeResult[] = []
    /** The last row that was changed, to find out whether an unconfirmed commit was made. */
    let last: Pick<Row, 'id' | 'tag'> | undefined
    const change = async (trx: Transaction<Tables>) => {
      results = []
      last = undefined
      await requireDatabase(trx, where.database)
      await lockDocuments(trx, engine)
      const indexes = await openIndexes(trx, engine, where, fields)
      if (all) requireFewRows(changes.length, indexes)
      while (results.length < changes.length) {
        if (results.length > 0) await nextTurn()
        const batch = nextBatch(changes, results.length)
        const states = await storedStates({ ...scope, trx }, batch)
        const changed = batch.findIndex(({ id, tag }) => states.get(id)?.tag !== tag)
        if (changed !== -1 && (all || results.length + changed === 0)) throw new StateChanged()
        const some = changed === -1 ? batch : batch.slice(0, changed)
        results.push(...(await changeEach({ ...scope, trx, indexes, all }, some)))
        if (changed !== -1) break
      }
      if (schema !== undefined) await requireSchema(trx, engine, where, schema)
      await commit?.(trx, results)
    }

    async function changeEach(target: Target, batch: readonly StateChange[]) {
      if (target.all || target.indexes?.hasUnique !== true) {
        last = (await changeTogether(target, batch)) ?? last
        return batch.map(() => undefined)
      }
      const { trx } = target
      await sql`savepoint changed`.execute(trx)
      try {
        const outcome = await changeTogether(target, batch)
        await sql`release savepoint changed`.execute(trx)
        last = outcome ?? last
        return batch.map(() => undefined)
      } catch (error) {
        if (!isExcluded(error)) throw error
        await sql`rollback to savepoint changed`.execute(trx)
        await sql`release savepoint changed`.execute(trx)
        if (batch.length === 1) return [error]
        const each: ChangeResult[] = []
        for (const one of batch) each.push(...(await changeEach(target, [one])))
        return each
      }
    }

    const changing = retryConflicts(
      () => transaction(change, 'long'),
      () => true,
    )
    await resolveOutcome(
      changing.then(() => true),
      async () => {
        if (last === undefined) return undefined
        const { id, tag } = last
        const stored = (await storedStates({ ...scope, trx: db }, [{ id }])).get(id)
        return stored?.tag === tag || (tag === '' && stored === undefined) ? true : undefined
      },
    )
    return results
  }
}

/** A transaction that changes documents. */
interface Target extends Scope {
  readonly trx: Transaction<Tables>
  readonly indexes: CollectionIndexes | undefined
  readonly all: boolean
}

/** Changes documents whose states are locked; returns the last. Its tag is '' if it was deleted. */
async function changeTogether(
  target: Target,
  batch: readonly StateChange[],
): Promise<Pick<Row, 'id' | 'tag'> | undefined> {
  const { trx, indexes } = target
  await indexes?.remove(batch)
  const rows = batch.flatMap(({ id, next }) =>
    next === undefined ? [] : { id, tag: createEntityTag(), body: next },
  )
  if (rows.length > 0) {
    await sql`
      ${insertion(target, rows)}
      on conflict (database, collection, id)
      do update set tag = excluded.tag, body = excluded.body`.execute(trx)
    await indexes?.add(rows)
  }
  const deleted = batch.filter(({ next }) => next === undefined)
  if (deleted.length > 0) {
    await sql`delete from documents where ${isAmong(target, deleted)}`.execute(trx)
  }
  const end = batch.at(-1)
  return rows.at(-1) ?? (end && { id: end.id, tag: '' })
}

function nextBatch(changes: readonly StateChange[], from: number): readonly StateChange[] {
  const batch: StateChange[] = []
  let bytes = 0
  for (let at = from; at < changes.length && batch.length < BATCH.documents; at++) {
    const change = changes[at] as StateChange
    bytes += change.body.length + (change.next?.length ?? 0)
    if (bytes > BATCH.bytes && batch.length > 0) break
    batch.push(change)
  }
  return batch
}

const isExcluded = (error: unknown): error is NotUnique | UniqueValuesTooLarge =>
  error instanceof NotUnique || error instanceof UniqueValuesTooLarge
