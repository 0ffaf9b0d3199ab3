import { sql, type Transaction } from 'kysely'
import { SYSTEM_DATABASE } from '../../contract/database.ts'
import { INDEXES } from '../../contract/document-index.ts'
import { Failure } from '../../failure.ts'
import { beginChange } from '../../storage/changes/begin-change.ts'
import type { OnTargetRecord } from '../../storage/changes/recorder.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { requireDatabase } from '../../storage/sql/database-exists.ts'
import { limitRows } from '../../storage/sql/parameters.ts'
import type { Store } from '../../storage/store.ts'
import type { DocumentIndexesTable, Tables } from '../../storage/tables.ts'

/** A row of an index. */
export type IndexRow = DocumentIndexesTable

/** The fields of an index, in the form of the parameter `sort`, and whether it is unique. */
export interface IndexInput {
  readonly fields: readonly string[]
  readonly unique: boolean
}

/** Returns the repository of the definitions of indexes. `now` returns ms since 1970. */
export function createIndexRepository({ db, change }: Store, now: () => number) {
  const rowsOf = ({ database, collection }: CollectionRef, source: Pick<typeof db, 'selectFrom'>) =>
    source
      .selectFrom('document_indexes')
      .selectAll()
      .where('database', '=', database)
      .where('collection', '=', collection)
      .where('state', '!=', 'dropped')
      .orderBy('name')

  return {
    /** Returns the indexes of a collection, by name. */
    list: (where: CollectionRef): Promise<IndexRow[]> => rowsOf(where, db).execute(),

    /**
     * Creates an index and audits it. A failed one with the same definition is replaced, which builds
     * it again. Returns undefined if it exists with the same definition otherwise.
     *
     * @throws Failure `conflict` if another index has the name, or the collection has too many;
     * `database-not-found`
     */
    create(
      where: CollectionRef,
      name: string,
      { fields, unique }: IndexInput,
      { record, actor, target }: OnTargetRecord,
    ): Promise<{ readonly row: IndexRow; readonly isReplaced: boolean } | undefined> {
      const row: IndexRow = {
        ...where,
        id: 0,
        name,
        fields: JSON.stringify(fields),
        is_unique: unique ? 1 : 0,
        state: 'building',
        cursor: null,
        done: 0,
        total: null,
        duplicates: null,
        created_at: now(),
      }
      return change(async (trx) => {
        // Locks the revision, so that changes of indexes follow each other.
        const id = await beginChange(trx, actor)
        await requireDatabase(trx, where.database)
        const others = await rowsOf(where, trx).execute()
        const same = others.find((each) => each.name === name)
        const definition = { fields, unique }
        if (same !== undefined) {
          if (same.fields !== row.fields || same.is_unique !== row.is_unique) throw taken(name)
          if (same.state !== 'failed') return undefined
          await setDropped(trx, same)
        } else if (others.length >= INDEXES) throw tooMany(where)
        await trx
          .insertInto('document_indexes')
          .values({ ...row, id })
          .execute()
        await record(trx, {
          actor,
          target,
          before: same === undefined ? null : definition,
          after: definition,
          action: 'index.create',
          outcome: 'done',
        })
        return { row: { ...row, id }, isReplaced: same !== undefined }
      })
    },

    /** Drops an index and audits it; returns undefined if it does not exist. */
    drop(
      { database, collection }: CollectionRef,
      name: string,
      { record, actor, target }: OnTargetRecord,
    ): Promise<IndexRow | undefined> {
      return change(async (trx) => {
        const find = () =>
          trx
            .selectFrom('document_indexes')
            .selectAll()
            .where('database', '=', database)
            .where('collection', '=', collection)
            .where('name', '=', name)
            .where('state', '!=', 'dropped')
            .executeTakeFirst()
        // Without an index, the revision stays the same.
        if ((await find()) === undefined) return undefined
        // Locks the revision, so that changes of indexes follow each other. Another one may have
        // replaced the index before.
        await beginChange(trx, actor)
        const row = await find()
        if (row === undefined || !(await setDropped(trx, row))) return undefined
        const before = { fields: JSON.parse(row.fields) as string[], unique: row.is_unique === 1 }
        await record(trx, {
          actor,
          target,
          before,
          action: 'index.drop',
          outcome: 'done',
          after: null,
        })
        return row
      })
    },

    /** Returns the states of all indexes as a text, to compare. */
    async states(): Promise<string> {
      const rows = await db
        .selectFrom('document_indexes')
        .select(['id', 'state'])
        .orderBy('id')
        .execute()
      return rows.map(({ id, state }) => `${id} ${state}`).join()
    },

    /** Drops the indexes of dropped databases. */
    async dropOrphans(): Promise<void> {
      const orphans = db
        .selectFrom('document_indexes')
        .select('id')
        .where('state', '!=', 'dropped')
        .where('database', '!=', SYSTEM_DATABASE)
        .where('database', 'not in', db.selectFrom('databases').select('databases.id'))
      // An update without an effect would be a commit, too.
      if ((await orphans.limit(1).executeTakeFirst()) === undefined) return
      await db
        .updateTable('document_indexes')
        .set({ state: 'dropped' })
        .where('id', 'in', orphans)
        .execute()
    },

    /** Returns an index to clean up or to build, dropped and failed ones first. */
    async next(): Promise<IndexRow | undefined> {
      return db
        .selectFrom('document_indexes')
        .selectAll()
        .where((eb) =>
          eb.or([
            eb('state', 'in', ['dropped', 'building']),
            eb.and([
              eb('state', '=', 'failed'),
              eb.exists(
                eb
                  .selectFrom('index_entries')
                  .select(sql`1`.as('one'))
                  .whereRef('index_entries.index_id', '=', 'document_indexes.id'),
              ),
            ]),
          ]),
        )
        .orderBy(sql`case state when 'building' then 1 else 0 end`)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
    },

    /** Deletes at most `limit` entries of an index; returns false if there are none. */
    async deleteEntries({ id }: Pick<IndexRow, 'id'>, limit: number): Promise<boolean> {
      const { rows } = await sql<{ key: Uint8Array; id: string }>`
        select key, id from (
          select key, id from index_entries where index_id = ${id} order by key, id limit ${limitRows(limit)}
        ) as batch order by key desc, id desc limit 1`.execute(db)
      const [last] = rows
      if (last === undefined) return false
      await sql`
        delete from index_entries
        where index_id = ${id} and (key, id) <= (${last.key}, ${last.id})`.execute(db)
      return true
    },

    /** Deletes the row of a dropped index. */
    async delete({ id }: Pick<IndexRow, 'id'>): Promise<void> {
      await db
        .deleteFrom('document_indexes')
        .where('id', '=', id)
        .where('state', '=', 'dropped')
        .execute()
    },
  }
}

/** Drops an index, whose entries the builder deletes. Returns false if it was dropped already. */
async function setDropped(trx: Transaction<Tables>, { id }: Pick<IndexRow, 'id'>) {
  const { numUpdatedRows } = await trx
    .updateTable('document_indexes')
    .set({ state: 'dropped' })
    .where('id', '=', id)
    .where('state', '!=', 'dropped')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export type IndexRepository = ReturnType<typeof createIndexRepository>

const taken = (name: string) =>
  new Failure(
    'conflict',
    `The index ${name} exists with a different definition. Delete it first, or choose another name.`,
    { field: 'name' },
  )

const tooMany = ({ collection }: CollectionRef) =>
  new Failure('conflict', `The collection ${collection} has ${INDEXES} indexes, the maximum.`)
