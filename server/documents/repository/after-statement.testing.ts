import type { Kysely, QueryId } from 'kysely'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'

/**
 * Returns a database, or a transaction, that awaits `work` with the rows of each statement on a
 * table before it returns them.
 */
export function afterStatement<T extends Kysely<Tables>>(
  db: T,
  table: string,
  work: (rows: readonly unknown[]) => Promise<unknown>,
): T {
  const statements = new WeakSet<QueryId>()
  return db.withPlugin({
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes(table)) statements.add(queryId)
      return node
    },
    async transformResult({ queryId, result }) {
      if (statements.has(queryId)) await work(result.rows)
      return result
    },
  }) as Kysely<Tables> as T
}

/**
 * Returns a store whose transactions wait, after each statement on the indexes of collections, until
 * `resume` is called. `paused` resolves when the first one waits.
 */
export function pauseAfterOpeningIndexes(store: Store) {
  const [paused, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait = async () => {
    paused.resolve()
    await resumed.promise
  }
  const transaction: Store['transaction'] = (work, length) =>
    store.transaction((trx) => work(afterStatement(trx, 'document_indexes', wait)), length)
  return {
    store: { ...store, transaction },
    paused: paused.promise,
    resume: () => resumed.resolve(),
  }
}
