import { randomBytes } from 'node:crypto'
import { invariant } from '../contract/invariant.ts'
import { beginChange } from '../storage/changes/begin-change.ts'
import type { OnRecord } from '../storage/changes/recorder.ts'
import type { Store } from '../storage/store.ts'

/** The stored databases at one revision of the store. */
export interface StoredDatabases {
  /** Ids by name; `_system` is not stored. */
  readonly ids: Map<string, string>
  readonly revision: number
}

/** Reads all databases and their revision in one statement. */
export async function readDatabases({ db }: Store): Promise<StoredDatabases> {
  const rows = await db
    .selectFrom('counters')
    .leftJoin('databases', (join) => join.onTrue())
    .select(['counters.value', 'databases.name', 'databases.id'])
    .where('counters.name', '=', 'revision')
    .execute()
  const ids = new Map<string, string>()
  for (const { name, id } of rows) if (name !== null && id !== null) ids.set(name, id)
  const [counter] = rows
  invariant(counter, 'the store has a revision counter')
  return { ids, revision: counter.value }
}

/** A stored database, and the revision of its creation. */
export interface InsertedDatabase {
  readonly id: string
  readonly revision: number
}

/**
 * Stores a database and audits it; returns undefined if the name is taken. Durable when it
 * resolves.
 */
export function insertDatabase(
  store: Store,
  name: string,
  now: number,
  { record, actor }: OnRecord,
): Promise<InsertedDatabase | undefined> {
  const id = randomBytes(8).toString('hex')
  return store.change(async (trx) => {
    const result = await trx
      .insertInto('databases')
      .values({ name, created_at: now, id })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirst()
    if (result.numInsertedOrUpdatedRows === 0n) return undefined
    const revision = await beginChange(trx, actor)
    const [action, outcome] = ['database.create', 'done'] as const
    await record(trx, { actor, action, target: name, outcome, before: null, after: {} })
    return { id, revision }
  })
}

/**
 * Deletes a database and audits it. Returns the revision of the deletion, or undefined if the
 * database did not exist. Durable when it resolves.
 */
export function deleteDatabase(
  store: Store,
  name: string,
  { record, actor }: OnRecord,
): Promise<number | undefined> {
  return store.change(async (trx) => {
    // Its documents are deleted later, which nobody follows.
    const id = trx.selectFrom('databases').select('id').where('name', '=', name)
    await trx.deleteFrom('feeds').where('database', 'in', id).execute()
    const deleted = await trx
      .deleteFrom('databases')
      .where('name', '=', name)
      .returning('id')
      .executeTakeFirst()
    if (deleted === undefined) return undefined
    const revision = await beginChange(trx, actor)
    await trx.deleteFrom('webhooks').where('database', '=', deleted.id).execute()
    const [action, outcome] = ['database.drop', 'done'] as const
    await record(trx, { actor, action, target: name, outcome, before: {}, after: null })
    return revision
  })
}
